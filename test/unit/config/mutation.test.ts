import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIssue } from '../../../src/config/issue.js';
import { loadBootstrap } from '../../../src/config/load.js';
import { printMessage } from '../../../src/config/print.js';
import { schema } from '../../../src/config/schema.js';

const MUTATIONS = 2000;
const SEED = 20_240_607;

const GOOD = `node: {id: one, cluster: c, metadata: {a: [1, {b: null}], "c": 'd'}}
admin:
  access_log:
  - name: envoy.access_loggers.file
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog
      path: /dev/null
      log_format: {text_format_source: {inline_string: "%START_TIME% %RESPONSE_CODE%\\n"}}
  address: &admin {socket_address: {address: 127.0.0.1, port_value: 9901}}
static_resources:
  listeners:
  - name: in
    address: {socket_address: {address: 0.0.0.0, port_value: 010}}
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: {prefix: /, headers: [{name: x, string_match: {exact: b}}]}
                route: {cluster: c, timeout: 1.5s, retry_policy: {retry_on: 5xx, num_retries: 3}}
              - match: {safe_regex: {regex: "/a.*"}}
                direct_response: {status: 200, body: {inline_string: ok}}
          http_filters:
          - name: router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
  clusters:
  - name: c
    type: STRICT_DNS
    connect_timeout: 0.25s
    lb_policy: ROUND_ROBIN
    health_checks: [{timeout: 1s, interval: 5s, unhealthy_threshold: 2, healthy_threshold: 2, tcp_health_check: {send: {text: "00FF"}}}]
    load_assignment:
      cluster_name: c
      endpoints:
      - lb_endpoints:
        - endpoint: {address: *admin}
          load_balancing_weight: 3
    # the end
    metadata:
      filter_metadata:
        envoy.lb:
          text: |
            block
`;

const FRAGMENTS = [
  ' ',
  '\n',
  '\n  ',
  '- ',
  ': ',
  ':',
  '#',
  '"',
  "'",
  '{',
  '}',
  '[',
  ']',
  ',',
  '|',
  '>',
  '&a ',
  '*a',
  '!t ',
  '?',
  '%',
  '@',
  '\t',
  '\0',
  '\ufeff',
  '\ud800',
  '😀',
  '-1',
  '1e999',
  '99999999999999999999',
  'null',
  '~',
  'true',
  '.inf',
  'NaN',
  '1s',
  '__proto__',
  'constructor',
  '"@type"',
  '@type: x',
  'typed_config',
  '*admin',
  '<<: *admin',
  '---\n',
  '...\n',
  '{a: '.repeat(300),
  '[[[[',
  'type.googleapis.com/google.protobuf.Any',
  'type.googleapis.com/xds.type.v3.TypedStruct',
  '$type',
  '\\u0000',
  '{}',
  '[]',
];

/** Marsaglia's xorshift: the same numbers on every machine. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

function mutated(text: string, random: (below: number) => number): string {
  let result = text;
  for (let count = 1 + random(4); count > 0; count--) {
    const at = random(result.length + 1);
    const other = random(result.length + 1);
    const length = random(40);
    const kind = random(5);
    if (kind === 0) result = result.slice(0, at) + result.slice(at + length);
    else if (kind === 1)
      result = result.slice(0, at) + result.slice(other, other + length) + result.slice(at);
    else if (kind === 2)
      result = result.slice(0, at) + String.fromCharCode(random(256)) + result.slice(at + 1);
    else
      result = result.slice(0, at) + (FRAGMENTS[random(FRAGMENTS.length)] ?? '') + result.slice(at);
  }
  return result;
}

test(`${MUTATIONS} mutations of a good bootstrap: each is loaded or refused with reasons, none throws`, () => {
  const good = loadBootstrap({ inlineYaml: GOOD });
  assert.deepEqual(good.issues.map(formatIssue), []);
  const json = JSON.stringify(
    printMessage(schema(), schema().getMessage('envoy.config.bootstrap.v3.Bootstrap'), {
      ...good.bootstrap,
    }),
    null,
    1,
  );
  const random = randomNumbers(SEED);
  let refused = 0;
  for (let count = 0; count < MUTATIONS; count++) {
    const text = mutated(count % 2 === 0 ? GOOD : json, random);
    const inlineYaml = count % 7 === 0 ? { inlineYaml: text } : { inlineYaml: `${text}\n` };
    const { bootstrap, issues, locate } = loadBootstrap(inlineYaml);
    const isRefused = issues.some(({ severity }) => severity === 'error');
    assert.equal(bootstrap === undefined, isRefused, text);
    for (const issue of issues) assert.ok(issue.position, `${formatIssue(issue)}\n${text}`);
    locate('static_resources.listeners[0].filter_chains[0].filters[0].typed_config.stat_prefix');
    if (bootstrap)
      printMessage(schema(), schema().getMessage('envoy.config.bootstrap.v3.Bootstrap'), {
        ...bootstrap,
      });
    else refused++;
  }
  assert.ok(refused > MUTATIONS / 4 && refused < MUTATIONS, `${refused} were refused`);
  assert.equal(Object.keys(Object.prototype).length, 0);
});
