import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cluster_Protocol as Protocol } from '../../../src/plan/plan.gen.js';
import { any, compileStatic, connectionManager, issuesOf, listenerOf } from './helpers.js';

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const TLS = 'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext';
const TLS_SOCKET = { name: 'tls', typed_config: any(TLS) };

function cluster(fields: object) {
  const compiled = compileStatic({ clusters: [{ name: 'one', ...fields }] });
  return { issues: issuesOf(compiled), plan: compiled.update.clusters?.[0] };
}

const speaking = (options: object) => ({
  typed_extension_protocol_options: { [HTTP_OPTIONS]: any(HTTP_OPTIONS, options) },
});

const explicit = (options: object) =>
  cluster(speaking({ explicit_http_config: { http2_protocol_options: options } }));

test('HTTP/2 has the defaults of the real server', () => {
  const { plan, issues } = explicit({});
  assert.deepEqual(issues, []);
  assert.equal(plan?.protocol, Protocol.HTTP2);
  assert.deepEqual(plan.http2, {
    custom_settings: [],
    header_table_bytes: 4096,
    max_concurrent_streams: 1024,
    stream_window_bytes: 16_777_216,
    connection_window_bytes: 25_165_824,
    allow_connect: undefined,
    max_outbound_frames: 10_000,
    max_outbound_control_frames: 1000,
    max_empty_frames: 1,
    max_priority_frames_per_stream: 100,
    max_window_updates_per_data_frame: 10,
    only_resets_invalid: undefined,
    without_huffman: false,
    max_header_field_bytes: 65_536,
    disallow_obs_text: undefined,
    counts_as_oghttp2: undefined,
  });
});

test('keep-alive, bounds and the form of headers are what the options say', () => {
  const { plan, issues } = explicit({
    connection_keepalive: {
      interval: 30_000,
      timeout: 5000,
      interval_jitter: { value: 10 },
      connection_idle_interval: 7000,
    },
    max_consecutive_inbound_frames_with_empty_payload: 0,
    enable_huffman_encoding: false,
    max_header_field_size_kb: 128,
    stream_reset_burst: 3,
    override_stream_error_on_invalid_http_message: true,
  });
  assert.deepEqual(issues, []);
  const http2 = plan?.http2;
  assert.equal(http2?.ping_interval_ms, 30_000);
  assert.equal(http2.ping_jitter_ms, 3000);
  assert.equal(http2.ping_timeout_ms, 5000);
  assert.equal(http2.ping_idle_ms, 7000);
  assert.equal(http2.max_empty_frames, 0);
  assert.equal(http2.without_huffman, true);
  assert.equal(http2.max_header_field_bytes, 131_072);
  assert.deepEqual([http2.stream_reset_burst, http2.stream_reset_rate], [3, 0]);
  assert.equal(http2.only_resets_invalid, true);
});

test('the newer option about invalid messages hides the older one', () => {
  const { plan } = explicit({
    stream_error_on_invalid_http_messaging: true,
    override_stream_error_on_invalid_http_message: false,
  });
  assert.equal(plan?.http2?.only_resets_invalid, false);
});

test('settings by number are those with names, or are announced as they are', () => {
  const { plan, issues } = explicit({
    custom_settings_parameters: [
      { identifier: 99, value: 7 },
      { identifier: 3, value: 12 },
      { identifier: 99, value: 7 },
      { identifier: 2, value: 0 },
    ],
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(plan?.http2?.custom_settings, [{ id: 99, value: 7 }]);
  assert.equal(plan.http2.max_concurrent_streams, 12);
});

test('settings by number that contradict something, or cannot be, are errors', () => {
  const custom = [
    { identifier: 1, value: 2 },
    { identifier: 2, value: 1 },
    { identifier: 8, value: 1 },
    { identifier: 16, value: 1 },
    { identifier: 16, value: 2 },
    { identifier: 5, value: 100 },
  ];
  const { issues } = cluster({
    http2_protocol_options: { hpack_table_size: 1, custom_settings_parameters: custom },
  });
  const at = 'error clusters[0].http2_protocol_options.custom_settings_parameters';
  assert.deepEqual(issues, [
    `${at}[0]: the {hpack_table_size} HTTP/2 SETTINGS parameter(s) can not be configured through both named and custom parameters`,
    `${at}[1]: server push is not supported by Envoy and can not be enabled via a SETTINGS parameter.`,
    `${at}[2]: the "allow_connect" SETTINGS parameter must only be configured through the named field`,
    `${at}[4]: inconsistent HTTP/2 custom SETTINGS parameter(s) detected; identifiers = {0x10}`,
    `${at}[5]: the HTTP/2 setting 0x05 can not be 100: it is from 16384 to 16777215`,
  ]);
});

test('METADATA frames are refused by the name of their option', () => {
  assert.match(
    explicit({ allow_metadata: true }).issues.join(),
    /http2_protocol_options\.allow_metadata: allow_metadata of envoy.config.core.v3.Http2ProtocolOptions is not supported yet/,
  );
});

test('a cluster speaks what its client speaks, in its newer and in its older words', () => {
  const newer = cluster(speaking({ use_downstream_protocol_config: {} }));
  const older = cluster({ protocol_selection: 'USE_DOWNSTREAM_PROTOCOL' });
  for (const { plan, issues } of [newer, older]) {
    assert.deepEqual(issues, []);
    assert.equal(plan?.protocol, Protocol.OF_CLIENT);
    assert.equal(plan.http2?.max_concurrent_streams, 1024);
  }
});

test('what is agreed on by ALPN needs TLS', () => {
  const auto = speaking({ auto_config: {} });
  const { plan, issues } = cluster({ ...auto, transport_socket: TLS_SOCKET });
  assert.deepEqual(issues, []);
  assert.equal(plan?.protocol, Protocol.BY_ALPN);
  assert.deepEqual(cluster(auto).issues, [
    'error clusters[0].typed_extension_protocol_options: ALPN configured for cluster one which has a non-ALPN transport socket',
  ]);
});

test('connection managers have the same options', () => {
  const compiled = compileStatic({
    listeners: [
      listenerOf(connectionManager({}, { http2_protocol_options: { allow_connect: true } })),
    ],
  });
  assert.deepEqual(issuesOf(compiled), []);
  const http2 = compiled.update.listeners?.[0]?.filter_chains?.[0]?.http?.http2;
  assert.equal(http2?.allow_connect, true);
  assert.equal(http2.stream_window_bytes, 16_777_216);
});
