// Loggers that send entries to services: gRPC's and OpenTelemetry's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compileStatic, connectionManager, issuesOf, listenerOf } from '../../plan/helpers.js';

const LOGGERS = 'envoy.extensions.access_loggers';
const HTTP_GRPC = `${LOGGERS}.grpc.v3.HttpGrpcAccessLogConfig`;
const OTEL = `${LOGGERS}.open_telemetry.v3.OpenTelemetryAccessLogConfig`;
const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const SERVICE = { envoy_grpc: { cluster_name: 'logs' } };
const CLUSTER = {
  name: 'logs',
  typed_extension_protocol_options: {
    [HTTP_OPTIONS]: {
      $type: HTTP_OPTIONS,
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

function compileLogs(...configs: object[]) {
  const access_log = configs.map((typed_config) => ({ name: 'log', typed_config }));
  const compiled = compileStatic({
    clusters: [CLUSTER],
    listeners: [listenerOf(connectionManager({}, { access_log }))],
  });
  return {
    issues: issuesOf(compiled),
    logs: compiled.update.listeners?.[0]?.filter_chains?.[0]?.http?.access_logs ?? [],
    services: compiled.logServices.plans,
  };
}

const grpc = (common: object = {}, fields: object = {}) =>
  any(HTTP_GRPC, {
    common_config: { log_name: 'a', grpc_service: SERVICE, transport_api_version: 'V3', ...common },
    ...fields,
  });

test('a service has the defaults of the real server', () => {
  const { issues, logs, services } = compileLogs(grpc());
  assert.deepEqual(issues, []);
  assert.deepEqual(logs[0]?.grpc?.buffer, {
    id: 0,
    bytes: 16_384,
    stat_prefix: 'access_logs.grpc_access_log.',
  });
  const [plan] = services;
  assert.equal(plan?.kind, 'stream');
  assert.deepEqual([plan?.flushMs, plan?.kind === 'stream' && plan.logName], [1000, 'a']);
});

test('loggers that say the same share a service; others do not', () => {
  const header = { additional_request_headers_to_log: ['X-A'] };
  const { logs, services } = compileLogs(grpc(), grpc({}, header), grpc({ log_name: 'b' }));
  assert.deepEqual(
    logs.map((log) => log.grpc?.buffer?.id),
    [0, 0, 1],
  );
  assert.equal(services.length, 2);
  assert.deepEqual(logs[1]?.grpc?.request_headers, ['x-a']);
});

test('only the newest version of the transport is spoken', () => {
  const { issues } = compileLogs(grpc({ transport_api_version: 'V2' }));
  assert.match(issues.join(), /The v2 xDS major version has been removed/);
});

test('records of OpenTelemetry are trees of formats; anything but texts in them is refused', () => {
  const member = (value: object) => ({ key: 'k', value });
  const { issues, logs } = compileLogs(
    any(OTEL, {
      grpc_service: SERVICE,
      stat_prefix: 'x',
      body: { string_value: 'a' },
      attributes: { values: [member({ array_value: { values: [{ string_value: 'b' }] } })] },
    }),
  );
  assert.deepEqual(issues, []);
  assert.equal(logs[0]?.otel?.buffer?.stat_prefix, 'access_logs.open_telemetry_access_log.x.');
  assert.equal(logs[0].otel.body?.text?.pieces?.[0]?.argument, 'a');
  assert.equal(logs[0].otel.attributes?.[0]?.items?.length, 1);
  const wrong = compileLogs(any(OTEL, { grpc_service: SERVICE, body: { int_value: 5 } }));
  assert.match(wrong.issues.join(), /Only string values, nested key value lists and array values/);
});

test('what detects resources is refused by name', () => {
  const { issues } = compileLogs(
    any(OTEL, { grpc_service: SERVICE, resource_detectors: [{ name: 'd' }] }),
  );
  assert.match(issues.join(), /resource_detectors of \S+ is not supported yet/);
});
