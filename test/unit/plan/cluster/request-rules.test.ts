import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compileStatic, issuesOf } from '../helpers.js';

const OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const HTTP = 'envoy.extensions.filters.http';
const CODEC = { name: 'codec', typed_config: any(`${HTTP}.upstream_codec.v3.UpstreamCodec`, {}) };
const BUFFER = {
  name: 'b',
  typed_config: any(`${HTTP}.buffer.v3.Buffer`, { max_request_bytes: 9 }),
};

function clusterOf(options: object) {
  const config = any(OPTIONS, {
    explicit_http_config: { http_protocol_options: {} },
    ...options,
  });
  const compiled = compileStatic({
    clusters: [{ name: 'origin', typed_extension_protocol_options: { [OPTIONS]: config } }],
  });
  return { issues: issuesOf(compiled), rules: compiled.update.clusters?.[0]?.request_rules };
}

test('a cluster that says nothing of requests has no rules', () => {
  assert.equal(clusterOf({}).rules, undefined);
});

test('filters of tries end with the codec, and it is the last alone', () => {
  const { issues, rules } = clusterOf({ http_filters: [BUFFER, CODEC] });
  assert.deepEqual(issues, []);
  assert.equal(rules?.http_filters?.length, 1);
  assert.deepEqual(rules.http_filters[0]?.buffer, { max_request_bytes: 9 });
  const issueOf = (...http_filters: object[]) => clusterOf({ http_filters }).issues[0] ?? '';
  assert.match(issueOf(BUFFER), /codec filter is the only valid terminal upstream HTTP filter/);
  assert.match(issueOf(CODEC, BUFFER), /only valid terminal upstream HTTP filter/);
  assert.match(issueOf(CODEC, CODEC), /terminal filter named codec .* must be the last filter/);
});

test('filters that the real server has for clients alone are none of a cluster', () => {
  const limit = {
    name: 'x',
    typed_config: any(`${HTTP}.local_ratelimit.v3.LocalRateLimit`, { stat_prefix: 'x' }),
  };
  assert.match(
    clusterOf({ http_filters: [limit, CODEC] }).issues[0] ?? '',
    /Didn't find a registered implementation for 'x'/,
  );
});

test('retries, copies, hashes and errors are told as a route has them', () => {
  const { issues, rules } = clusterOf({
    retry_policy: { retry_on: '5xx', num_retries: 2 },
    request_mirror_policies: [{ cluster: 'gone' }],
    hash_policy: [{ header: { header_name: 'X-User' } }],
    outlier_detection: {
      error_matcher: {
        http_response_headers_match: { headers: [{ name: 'x-bad', present_match: true }] },
      },
    },
  });
  assert.deepEqual(issues, []);
  assert.equal(rules?.retry?.num_retries, 2);
  assert.equal(rules.mirrors?.[0]?.cluster, 'gone');
  assert.equal(rules.hash_policies?.[0]?.header?.name, 'x-user');
  assert.equal(rules.error_match?.headers?.[0]?.name, 'x-bad');
});
