import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HealthCheck_Kind as Kind } from '../../../../src/plan/plan.gen.js';
import { any, compileStatic, issuesOf, socketAddress } from '../helpers.js';

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const TIMES = { timeout: 1000, interval: 2000, unhealthy_threshold: 3, healthy_threshold: 4 };
const HTTP2 = {
  typed_extension_protocol_options: {
    [HTTP_OPTIONS]: any(HTTP_OPTIONS, { explicit_http_config: { http2_protocol_options: {} } }),
  },
};

function compileCheck(fields: object, cluster: object = {}) {
  const compiled = compileStatic({
    clusters: [{ name: 'origin', health_checks: [{ ...TIMES, ...fields }], ...cluster }],
  });
  return { issues: issuesOf(compiled), check: compiled.update.clusters?.[0]?.health_check };
}

test('a check of HTTP gets the defaults of the real server', () => {
  const { check, issues } = compileCheck({ http_health_check: { path: '/hc' } });
  assert.deepEqual(issues, []);
  assert.equal(check?.kind, Kind.HTTP);
  assert.equal(check?.method, 'GET');
  assert.equal(check?.path, '/hc');
  assert.equal(check?.body_bytes, 1024);
  assert.equal(check?.reuses_connection, true);
  assert.deepEqual(
    [check?.timeout_ms, check?.interval_ms, check?.unhealthy_threshold, check?.healthy_threshold],
    [1000, 2000, 3, 4],
  );
  assert.deepEqual(
    [
      check?.unhealthy_interval_ms,
      check?.unhealthy_edge_interval_ms,
      check?.healthy_edge_interval_ms,
    ],
    [2000, 2000, 2000],
  );
  assert.equal(check?.no_traffic_interval_ms, 60_000);
  assert.equal(check?.no_traffic_healthy_interval_ms, 60_000);
});

test('intervals follow the one that they are of', () => {
  const { check } = compileCheck({
    tcp_health_check: {},
    unhealthy_interval: 5000,
    no_traffic_interval: 7000,
  });
  assert.equal(check?.unhealthy_edge_interval_ms, 5000);
  assert.equal(check?.healthy_edge_interval_ms, 2000);
  assert.equal(check?.no_traffic_healthy_interval_ms, 7000);
});

test('payloads are hexadecimal text, or bytes', () => {
  const { check, issues } = compileCheck({
    tcp_health_check: {
      send: { text: '00Ff' },
      receive: [{ text: '41' }, { binary: Buffer.from('B') }],
    },
  });
  assert.deepEqual(issues, []);
  assert.equal(check?.kind, Kind.TCP);
  assert.deepEqual([...(check?.send ?? [])], [0, 255]);
  assert.deepEqual(
    check?.receive?.map((part) => Buffer.from(part).toString()),
    ['A', 'B'],
  );
  assert.deepEqual(compileCheck({ tcp_health_check: { send: { text: 'xyz' } } }).issues, [
    "error clusters[0].health_checks[0].tcp_health_check.send.text: invalid hex string 'xyz'",
  ]);
});

test('only methods that have a body bring a payload', () => {
  const issuesBy = (method?: string) =>
    compileCheck({ http_health_check: { path: '/', method, send: { text: '6869' } } }).issues;
  assert.match(issuesBy()[0] ?? '', /cannot specify a request payload with method 'GET'/);
  assert.match(issuesBy('HEAD')[0] ?? '', /method 'HEAD'/);
  assert.deepEqual(issuesBy('POST'), []);
});

test('gRPC is asked for over HTTP/2 alone', () => {
  const grpc = { grpc_health_check: { service_name: 's', authority: 'a' } };
  const { check, issues } = compileCheck(grpc, HTTP2);
  assert.deepEqual(issues, []);
  assert.deepEqual([check?.kind, check?.service, check?.host], [Kind.GRPC, 's', 'a']);
  assert.ok(check?.http2);
  assert.deepEqual(compileCheck(grpc).issues, [
    'error clusters[0].health_checks[0].grpc_health_check: origin cluster must support HTTP/2 for gRPC healthchecking',
  ]);
});

test('what cannot be checked is refused by its name', () => {
  assert.deepEqual(
    compileCheck({
      custom_health_check: {
        name: 'envoy.health_checkers.redis',
        typed_config: any('envoy.extensions.health_checkers.redis.v3.Redis'),
      },
    }).issues,
    [
      "error clusters[0].health_checks[0].custom_health_check: 'envoy.health_checkers.redis' (envoy.extensions.health_checkers.redis.v3.Redis) is not supported yet as a health check",
    ],
  );
  const two = { ...TIMES, tcp_health_check: {} };
  assert.deepEqual(compileCheck({}, { health_checks: [two, two] }).issues, [
    'error clusters[0].health_checks[1]: Multiple health checks not supported',
  ]);
  assert.deepEqual(
    compileCheck({
      http_health_check: { path: '/', expected_statuses: [{ start: 300, end: 200 }] },
    }).issues,
    [
      'error clusters[0].health_checks[0].http_health_check.expected_statuses[0]: Invalid http expected status range: expecting start < end, but found start=300 and end=200',
    ],
  );
});

test('endpoints say where they are checked, and whether', () => {
  const at = socketAddress(80, '192.0.2.1');
  const compiled = compileStatic({
    clusters: [
      {
        name: 'origin',
        load_assignment: {
          cluster_name: 'origin',
          endpoints: [
            {
              lb_endpoints: [
                { endpoint: { address: at, health_check_config: { port_value: 81 } } },
                {
                  endpoint: {
                    address: at,
                    health_check_config: { address: socketAddress(82, '192.0.2.2'), hostname: 'h' },
                  },
                },
                {
                  endpoint: {
                    address: at,
                    health_check_config: { disable_active_health_check: true },
                  },
                },
              ],
            },
          ],
        },
      },
    ],
  });
  const hosts = compiled.update.assignments?.[0]?.hosts ?? [];
  assert.deepEqual(
    hosts.map(({ check_address: address }) => address && [[...(address.ip ?? [])], address.port]),
    [[[192, 0, 2, 1], 81], [[192, 0, 2, 2], 82], undefined],
  );
  assert.equal(hosts[1]?.check_hostname, 'h');
  assert.equal(hosts[2]?.is_not_checked, true);
});
