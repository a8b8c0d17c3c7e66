// What a connection manager does to requests before they are routed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compileStatic, connectionManager, issuesOf, listenerOf } from '../helpers.js';

const DETECTION = 'envoy.extensions.http.original_ip_detection';

function managerOf(fields: object) {
  const result = compileStatic({ listeners: [listenerOf(connectionManager({}, fields))] });
  return {
    issues: issuesOf(result).join('\n'),
    http: result.update.listeners?.[0]?.filter_chains?.[0]?.http ?? {},
  };
}

const extension = (type: string, fields: object = {}) => ({
  name: 'e',
  typed_config: any(type, fields),
});

test('clients are found by headers and ranges, in the order of the list', () => {
  const { issues, http } = managerOf({
    original_ip_detection_extensions: [
      extension(`${DETECTION}.custom_header.v3.CustomHeaderConfig`, {
        header_name: 'X-Real-IP',
        reject_with_status: { code: 'Unauthorized' },
      }),
      extension(`${DETECTION}.xff.v3.XffConfig`, { xff_num_trusted_hops: 2 }),
    ],
  });
  assert.equal(issues, '');
  const [header, forwarded] = http.ip_detections ?? [];
  assert.equal(header?.header, 'x-real-ip');
  assert.equal(header.reject_status, 401);
  assert.equal(forwarded?.trusted_hops, 2);
  assert.equal(forwarded.skips_append, true);
});

test('a client is found in one way only', () => {
  const original_ip_detection_extensions = [extension(`${DETECTION}.xff.v3.XffConfig`)];
  assert.match(
    managerOf({ original_ip_detection_extensions, use_remote_address: true }).issues,
    /Original IP detection extensions and use_remote_address may not be mixed/,
  );
  assert.match(
    managerOf({ original_ip_detection_extensions, xff_num_trusted_hops: 1 }).issues,
    /xff_num_trusted_hops may not be mixed/,
  );
  assert.match(
    managerOf({ original_ip_detection_extensions: [extension('a.Nobody')] }).issues,
    /Didn't find a registered implementation for 'e'/,
  );
});

test('names of headers stay as they came, or are capitalised', () => {
  const formatter = 'envoy.extensions.http.header_formatters.preserve_case.v3';
  const format = (header_key_format: object) =>
    managerOf({ http_protocol_options: { header_key_format } }).http;
  assert.equal(format({ proper_case_words: {} }).proper_case_words, true);
  const kept = format({
    stateful_formatter: extension(`${formatter}.PreserveCaseFormatterConfig`, {
      forward_reason_phrase: true,
      formatter_type_on_envoy_headers: 'PROPER_CASE',
    }),
  });
  assert.deepEqual(kept.preserve_case, { forwards_reason: true, capitalizes_own: true });
});

test('proxy-status names the proxy as it is told to', () => {
  const nameOf = (proxy_status_config: object, fields: object = {}) =>
    managerOf({ proxy_status_config, ...fields }).http.proxy_status?.proxy_name;
  assert.equal(nameOf({}), 'envoy');
  assert.equal(nameOf({}, { server_name: 'web' }), 'web');
  assert.equal(nameOf({ use_node_id: true }), 'shop-1');
  assert.equal(nameOf({ literal_proxy_name: 'me' }), 'me');
});

test('jitter is a share of a time, in 10,000ths', () => {
  const { http } = managerOf({
    drain_timeout_jitter: { value: 12.5 },
    common_http_protocol_options: { max_connection_duration_jitter: { value: 100 } },
  });
  assert.equal(http.drain_timeout_jitter, 1250);
  assert.equal(http.max_connection_duration_jitter, 10_000);
});
