import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SinkPlan } from '../../../../src/plan/extension-plans.js';
import { Cluster_Protocol as Protocol } from '../../../../src/plan/plan.gen.js';
import { any, compile, issuesOf, listenerOf, TCP_PROXY } from '../helpers.js';

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const TLS = 'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext';

const http2 = (options: object = {}) => ({
  typed_extension_protocol_options: {
    [HTTP_OPTIONS]: any(HTTP_OPTIONS, {
      explicit_http_config: { http2_protocol_options: options },
    }),
  },
});

const tls = (context: object = {}) => ({
  transport_socket: { name: 'tls', typed_config: any(TLS, context) },
});

function compileSink(service: object, cluster: object = http2(), listeners: object[] = []) {
  const compiled = compile({
    static_resources: { clusters: [{ name: 'metrics', ...cluster }], listeners },
    stats_sinks: [
      {
        name: 'envoy.stat_sinks.metrics_service',
        typed_config: any('envoy.config.metrics.v3.MetricsServiceConfig', {
          grpc_service: service,
        }),
      },
    ],
  });
  const metrics = compiled.sinks.find(
    (sink): sink is Extract<SinkPlan, { kind: 'metrics' }> => sink.kind === 'metrics',
  );
  return { issues: issuesOf(compiled), service: metrics?.service, compiled };
}

const ENVOY = { envoy_grpc: { cluster_name: 'metrics' } };

test('a service at a cluster that speaks HTTP/2 is sent what the real server sends', () => {
  const { issues, service, compiled } = compileSink({
    ...ENVOY,
    initial_metadata: [
      { key: 'X-A', value: '1' },
      { key: 'x-a', value: '%HOSTNAME% 2' },
      { key: 'k-bin', value: 'hi' },
    ],
  });
  assert.deepEqual(issues, []);
  assert.equal(compiled.update.clusters?.[0]?.protocol, Protocol.HTTP2);
  assert.ok(service?.kind === 'envoy');
  assert.equal(service.authority, 'metrics');
  assert.deepEqual(service.metadata, [
    ['x-a', '%HOSTNAME% 2'],
    ['k-bin', Buffer.from('hi')],
    ['x-envoy-internal', 'true'],
    ['x-forwarded-for', '192.0.2.1'],
  ]);
});

test('authority, own headers, message length and retries are the service’s', () => {
  const { issues, service } = compileSink({
    envoy_grpc: {
      cluster_name: 'metrics',
      authority: 'me',
      skip_envoy_headers: true,
      max_receive_message_length: 7,
    },
    retry_policy: {
      retry_on: 'unavailable, reset',
      num_retries: 3,
      retry_back_off: { base_interval: 40 },
    },
  });
  assert.deepEqual(issues, []);
  assert.ok(service?.kind === 'envoy');
  assert.deepEqual([service.authority, service.maxMessageBytes], ['me', 7]);
  assert.deepEqual(service.metadata, []);
  assert.deepEqual(service.retry, {
    on: new Set(['unavailable', 'reset']),
    count: 3,
    baseMs: 40,
    maxMs: 400,
  });
});

test('what initial metadata cannot be is told in the words of the real server', () => {
  const { issues } = compileSink({
    ...ENVOY,
    initial_metadata: [
      { key: ':path', value: 'a' },
      { key: 'Host', value: 'a' },
      { key: 'a', value: '%BOGUS%' },
      { key: 'b', value: 'a%' },
    ],
  });
  const at = 'error typed_config.grpc_service.initial_metadata';
  assert.deepEqual(issues, [
    `${at}[0].key: :-prefixed or host headers may not be modified`,
    `${at}[1].key: :-prefixed or host headers may not be modified`,
    `${at}[2].value: Not supported field in StreamInfo: BOGUS`,
    `${at}[3].value: Incorrect configuration: a%. Couldn't find valid command at position 1 (%%?)`,
  ]);
});

test('metadata that HTTP/2 or the gRPC library would refuse is refused at once', () => {
  const headers = [
    { key: 'a b', value: 'x' },
    { key: 'connection', value: 'x' },
    { key: 'te', value: 'x' },
    { key: 'x', value: 'a\nb' },
    { key: 'y', value: 'é' },
  ];
  const at = 'error typed_config.grpc_service.initial_metadata';
  const common = [
    `${at}[0]: cannot be sent: 'a b' is no name of metadata`,
    `${at}[1]: cannot be sent: 'connection' is about connections, which HTTP/2 does not allow`,
    `${at}[2]: cannot be sent: gRPC sets 'te' itself`,
    `${at}[3]: cannot be sent: its value has characters that no header may have`,
  ];
  assert.deepEqual(compileSink({ ...ENVOY, initial_metadata: headers }).issues, common);
  const google = { google_grpc: { target_uri: 't', stat_prefix: 'g' } };
  assert.deepEqual(compileSink({ ...google, initial_metadata: headers }).issues, [
    ...common,
    `${at}[4]: cannot be sent: its value has characters that no header may have`,
  ]);
});

test('an unknown cluster is an error that knows the nearest name', () => {
  assert.deepEqual(compileSink({ envoy_grpc: { cluster_name: 'metric' } }).issues, [
    "error typed_config.grpc_service.envoy_grpc.cluster_name: Unknown gRPC client cluster 'metric' (metrics?)",
  ]);
});

test('what HTTP/2 options ask for explicitly is what gRPC connections begin with', () => {
  const { issues, service } = compileSink(
    ENVOY,
    http2({
      hpack_table_size: 1000,
      initial_connection_window_size: 100_000,
      max_outbound_frames: 5,
      custom_settings_parameters: [{ identifier: 4, value: 70_000 }],
      connection_keepalive: { interval: 30_000, timeout: 5000 },
    }),
  );
  assert.deepEqual(issues, []);
  assert.ok(service?.kind === 'envoy');
  assert.deepEqual(service.clusters.get('metrics')?.http2, {
    settings: { headerTableSize: 1000, initialWindowSize: 70_000 },
    connectionWindowBytes: 100_000,
    ping: { intervalMs: 30_000, timeoutMs: 5000, jitterPct: 15 },
  });
});

test('a cluster cannot have both protocols in its own fields', () => {
  assert.deepEqual(
    compileSink(ENVOY, { http_protocol_options: {}, http2_protocol_options: {} }).issues,
    [
      "error clusters[0].http2_protocol_options: cluster: Both HTTP1 and HTTP2 options may only be configured with non-default 'protocol_selection' values",
    ],
  );
});

test('TCP goes to a cluster that speaks HTTP/2, be it over TLS', () => {
  const proxied = listenerOf(any(TCP_PROXY, { stat_prefix: 'in', cluster: 'metrics' }));
  assert.deepEqual(compileSink(ENVOY, http2(), [proxied]).issues, []);
  assert.deepEqual(compileSink(ENVOY, { ...http2(), ...tls() }, [proxied]).issues, []);
});

test('TLS is what a client of the real server offers unless it is told', () => {
  const { issues, service } = compileSink(ENVOY, { ...http2(), ...tls({ sni: 'm.example' }) });
  assert.deepEqual(issues, []);
  assert.ok(service?.kind === 'envoy');
  assert.deepEqual(service.clusters.get('metrics')?.tls, {
    sni: 'm.example',
    subjects: [],
    hashes: [],
    keyHashes: [],
    certificates: [],
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.2',
    ciphers:
      'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:' +
      'ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-CHACHA20-POLY1305:' +
      'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384',
    curves: 'X25519:P-256',
    alpn: ['h2'],
  });
});

test('what TLS of a gRPC service cannot do is refused where it is used', () => {
  const context = (common: object) =>
    compileSink(ENVOY, tls({ common_tls_context: common })).issues;
  assert.deepEqual(context({ validation_context: { match_subject_alt_names: [{ exact: 'a' }] } }), [
    'error typed_config.common_tls_context.validation_context: SAN-based verification of peer certificates without trusted CA is insecure and not allowed',
  ]);
  const loose = {
    trusted_ca: { inline_string: 'x' },
    trust_chain_verification: 'ACCEPT_UNTRUSTED',
  };
  assert.deepEqual(context({ validation_context: loose }), [
    "error typed_config.grpc_service.envoy_grpc.cluster_name: cluster 'metrics' has TLS with ACCEPT_UNTRUSTED, which is not supported yet for gRPC services",
  ]);
});

test('google_grpc has credentials, options and metadata of its own', () => {
  const google = { target_uri: 'dns:///m.example:1', stat_prefix: 'g' };
  const { issues, service } = compileSink({
    google_grpc: {
      ...google,
      channel_credentials: { ssl_credentials: {} },
      call_credentials: [{ access_token: 'secret' }],
      channel_args: {
        args: {
          a: { int_value: 3 },
          b: { string_value: 'c' },
          'grpc.keepalive_time_ms': { int_value: 86_400_000_000 },
        },
      },
    },
    initial_metadata: [{ key: 'x', value: 'y' }],
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(service, {
    kind: 'google',
    target: 'dns:///m.example:1',
    statPrefix: 'g',
    credentials: { kind: 'ssl' },
    accessTokens: ['secret'],
    fileTokens: [],
    // No timer of Node's waits for longer.
    channelOptions: { a: 3, b: 'c', 'grpc.keepalive_time_ms': 2 ** 31 - 1 },
    metadata: [['x', 'y']],
  });
});

test('google_grpc tells what it cannot do', () => {
  const issues = (fields: object) =>
    compileSink({ google_grpc: { target_uri: 't', stat_prefix: 'g', ...fields } }).issues;
  const at = 'error typed_config.grpc_service.google_grpc';
  assert.deepEqual(issues({ credentials_factory_name: 'x' }), [
    `${at}.credentials_factory_name: Unknown google grpc credentials factory: x`,
  ]);
  assert.deepEqual(issues({ channel_credentials: { google_default: {} } }), [
    `${at}.channel_credentials.google_default: Google's default credentials are not supported`,
  ]);
  assert.deepEqual(issues({ call_credentials: [{ access_token: 'x' }] }), [
    `${at}.call_credentials: an access token is only sent over TLS`,
  ]);
  assert.match(
    issues({ call_credentials: [{ google_compute_engine: {} }] })[0] ?? '',
    /google_compute_engine of .* is not supported yet/,
  );
});
