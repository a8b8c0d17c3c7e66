import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cluster_Balancer, Host_Health } from '../../../../src/plan/plan.gen.js';
import { any, compile, compileStatic, issuesOf, socketAddress } from '../helpers.js';

const LB = 'envoy.extensions.load_balancing_policies';
const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

function clusterOf(fields: object) {
  const compiled = compileStatic({ clusters: [{ name: 'origin', ...fields }] });
  return { issues: issuesOf(compiled), cluster: compiled.update.clusters?.[0], compiled };
}

function endpoint(address: string, fields: object = {}) {
  return { endpoint: { address: socketAddress(80, address) }, ...fields };
}

test('what waits longer after failures never waits less', () => {
  const rate = { base_interval: 5000, max_interval: 1000 };
  const { issues } = clusterOf({ type: 'STRICT_DNS', dns_failure_refresh_rate: rate });
  assert.match(issues.join(), /max_interval greater than or equal to the base_interval/);
});

test('a cluster of nothing but a name gets the defaults of the real server', () => {
  const { cluster, issues, compiled } = clusterOf({});
  assert.deepEqual(issues, []);
  assert.equal(cluster?.observability_name, 'origin');
  assert.equal(cluster?.connect_timeout_ms, 5000);
  assert.equal(cluster?.idle_timeout_ms, 3_600_000);
  assert.equal(cluster?.per_connection_buffer_limit_bytes, 1_048_576);
  assert.equal(cluster?.balancer, Cluster_Balancer.ROUND_ROBIN);
  assert.equal(cluster?.panic_threshold_pct, 50);
  assert.equal(cluster?.max_headers_count, 100);
  assert.equal(cluster?.max_response_headers_kb, 80);
  for (const limits of cluster?.limits ?? []) {
    assert.deepEqual(
      [
        limits.max_connections,
        limits.max_pending_requests,
        limits.max_requests,
        limits.max_retries,
      ],
      [1024, 1024, 1024, 3],
    );
  }
  assert.deepEqual(compiled.update.assignments, [
    { cluster_name: 'origin', hosts: [], overprovisioning_factor_pct: 140, shows_members: false },
  ]);
  const { compiled: named } = clusterOf({ load_assignment: { endpoints: [{}] } });
  assert.equal(named.update.assignments?.[0]?.shows_members, true);
});

test('how many requests a connection serves is said in one place', () => {
  const common_http_protocol_options = { max_requests_per_connection: 2 };
  const both = { max_requests_per_connection: 1, common_http_protocol_options };
  assert.match(clusterOf(both).issues.join(), /Only one of max_requests_per_connection/);
  const { cluster, issues } = clusterOf({ common_http_protocol_options });
  assert.deepEqual(issues, []);
  assert.equal(cluster?.max_requests_per_connection, 2);
});

test('the generic pools are what there is, and no others', () => {
  const pool = (kind: string, type: string) =>
    clusterOf({
      upstream_config: {
        name: 'p',
        typed_config: any(`envoy.extensions.upstreams.${kind}.v3.${type}`),
      },
    }).issues;
  assert.deepEqual(pool('http.generic', 'GenericConnectionPoolProto'), []);
  assert.deepEqual(pool('tcp.generic', 'GenericConnectionPoolProto'), []);
  assert.match(
    pool('http.tcp', 'TcpConnectionPoolProto').join(),
    /upstream_config: the pool 'p' \(.*TcpConnectionPoolProto\) is not supported yet/,
  );
});

test('hosts carry weight, priority, locality, health and canary', () => {
  const { compiled } = clusterOf({
    load_assignment: {
      cluster_name: 'origin',
      policy: { overprovisioning_factor: 100 },
      endpoints: [
        { lb_endpoints: [endpoint('192.0.2.1')] },
        {
          priority: 1,
          locality: { region: 'eu', zone: 'b', sub_zone: '3' },
          lb_endpoints: [
            endpoint('::1', {
              health_status: 'DRAINING',
              load_balancing_weight: 7,
              metadata: { filter_metadata: { 'envoy.lb': { canary: true } } },
            }),
          ],
        },
      ],
    },
  });
  const assignment = compiled.update.assignments?.[0];
  assert.equal(assignment?.overprovisioning_factor_pct, 100);
  const [first, second] = assignment?.hosts ?? [];
  assert.deepEqual(first?.address, { ip: Uint8Array.of(192, 0, 2, 1), port: 80 });
  assert.equal(first?.weight, 1);
  assert.equal(first?.health, Host_Health.HEALTHY);
  assert.equal(second?.address?.ip?.length, 16);
  assert.deepEqual(
    [
      second?.weight,
      second?.priority,
      second?.region,
      second?.zone,
      second?.sub_zone,
      second?.canary,
    ],
    [7, 1, 'eu', 'b', '3', true],
  );
  assert.equal(second?.health, Host_Health.DRAINING);
});

test('circuit breakers are of the default and the high priority; the first of several counts', () => {
  const { cluster } = clusterOf({
    circuit_breakers: {
      thresholds: [
        { max_connections: 0, track_remaining: true },
        { priority: 'HIGH', max_retries: 9 },
        { max_connections: 5 },
      ],
    },
  });
  assert.equal(cluster?.limits?.[0]?.max_connections, 0);
  assert.equal(cluster?.limits?.[0]?.max_requests, 1024);
  assert.equal(cluster?.limits?.[1]?.max_retries, 9);
});

test('a host name in a static cluster is refused', () => {
  const { issues } = clusterOf({
    load_assignment: {
      cluster_name: 'origin',
      endpoints: [{ lb_endpoints: [endpoint('origin.test')] }],
    },
  });
  assert.deepEqual(issues, [
    'error clusters[0].load_assignment.endpoints[0].lb_endpoints[0].endpoint.address.socket_address.address: ' +
      'malformed IP address: origin.test',
  ]);
});

test('a STRICT_DNS cluster leaves its names to DNS', () => {
  const { compiled, issues } = clusterOf({
    type: 'STRICT_DNS',
    dns_lookup_family: 'V4_ONLY',
    dns_refresh_rate: 1500,
    dns_failure_refresh_rate: { base_interval: 200 },
    load_assignment: {
      cluster_name: 'origin',
      endpoints: [
        { lb_endpoints: [endpoint('origin.test', { load_balancing_weight: 2 }), endpoint('::1')] },
      ],
    },
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(compiled.update.assignments, []);
  const [dns] = compiled.dnsClusters;
  assert.equal(dns?.kind, 'strict');
  assert.equal(dns?.lookup, 'V4_ONLY');
  assert.equal(dns?.refreshMs, 1500);
  assert.deepEqual(dns?.failureRefresh, { baseMs: 200, maxMs: 2000 });
  assert.deepEqual(
    dns?.endpoints.map(({ hostname, port }) => [hostname, port]),
    [
      ['origin.test', 80],
      ['::1', 80],
    ],
  );
  assert.equal(dns?.endpoints[0]?.host.hostname, 'origin.test');
  assert.equal(dns?.endpoints[0]?.host.weight, 2);
});

test('a LOGICAL_DNS cluster has exactly one endpoint', () => {
  const endpoints = (count: number) => ({
    type: 'LOGICAL_DNS',
    load_assignment: {
      cluster_name: 'origin',
      endpoints: [{ lb_endpoints: Array.from({ length: count }, () => endpoint('origin.test')) }],
    },
  });
  assert.deepEqual(clusterOf(endpoints(1)).issues, []);
  assert.equal(clusterOf(endpoints(1)).cluster?.is_resolved, true);
  assert.match(
    clusterOf(endpoints(2)).issues.join(),
    /must have a single locality_lb_endpoint and a single lb_endpoint/,
  );
  assert.match(clusterOf({ type: 'LOGICAL_DNS' }).issues.join(), /must have a single host/);
});

test('least request may be asked for in both ways', () => {
  const old = clusterOf({
    lb_policy: 'LEAST_REQUEST',
    least_request_lb_config: { choice_count: 3 },
  });
  assert.equal(old.cluster?.balancer, Cluster_Balancer.LEAST_REQUEST);
  assert.equal(old.cluster?.least_request_choices, 3);
  const typed = clusterOf({
    load_balancing_policy: {
      policies: [
        { typed_extension_config: { name: 'x', typed_config: any('envoy.unknown.Balancer') } },
        {
          typed_extension_config: {
            name: 'y',
            typed_config: any(`${LB}.least_request.v3.LeastRequest`, {
              selection_method: 'FULL_SCAN',
            }),
          },
        },
      ],
    },
  });
  assert.deepEqual(typed.issues, []);
  assert.equal(typed.cluster?.least_request_full_scan, true);
  assert.equal(typed.cluster?.least_request_choices, 2);
});

test('a balancer that is not supported is named', () => {
  const { issues } = clusterOf({
    load_balancing_policy: {
      policies: [
        {
          typed_extension_config: { name: 'x', typed_config: any(`${LB}.pick_first.v3.PickFirst`) },
        },
      ],
    },
  });
  assert.deepEqual(issues, [
    'error clusters[0].load_balancing_policy.policies: these balancers are not supported yet: ' +
      `x (${LB}.pick_first.v3.PickFirst)`,
  ]);
});

test('the HTTP options of the extension hide the older fields, and that is said', () => {
  const { cluster, issues } = clusterOf({
    http_protocol_options: { enable_trailers: true },
    typed_extension_protocol_options: {
      [HTTP_OPTIONS]: any(HTTP_OPTIONS, {
        common_http_protocol_options: { idle_timeout: 300, max_requests_per_connection: 4 },
        explicit_http_config: { http_protocol_options: {} },
      }),
    },
  });
  assert.equal(cluster?.idle_timeout_ms, 300);
  assert.equal(cluster?.max_requests_per_connection, 4);
  assert.equal(cluster?.enable_trailers, undefined);
  assert.deepEqual(issues, [
    'warning clusters[0].http_protocol_options: has no effect beside typed_extension_protocol_options',
  ]);
});

test('keep-alive with no numbers leaves them to the kernel', () => {
  const { cluster } = clusterOf({ upstream_connection_options: { tcp_keepalive: {} } });
  assert.equal(cluster?.tcp_keepalive, true);
  assert.equal(cluster?.keepalive_probes, undefined);
});

test('keep-alive is switched off by any of its numbers that is 0', () => {
  const of = (keepalive: object): boolean | undefined =>
    clusterOf({ upstream_connection_options: { tcp_keepalive: keepalive } }).cluster?.tcp_keepalive;
  assert.equal(of({ keepalive_probes: 0 }), undefined);
  assert.equal(of({ keepalive_time: 0, keepalive_interval: 1 }), undefined);
  assert.equal(of({ keepalive_time: 1, keepalive_interval: 0 }), undefined);
  assert.equal(of({ keepalive_probes: 1, keepalive_time: 1, keepalive_interval: 1 }), true);
});

test("the cluster manager's source address is every cluster's own, unless it has one", () => {
  const compiled = compile({
    cluster_manager: {
      upstream_bind_config: { source_address: { address: '192.0.2.9', port_value: 0 } },
    },
    static_resources: {
      clusters: [
        { name: 'a' },
        {
          name: 'b',
          upstream_bind_config: { source_address: { address: '192.0.2.8', port_value: 0 } },
        },
      ],
    },
  });
  const addresses = compiled.update.clusters?.map((cluster) =>
    cluster.sources?.[0]?.address?.ip?.join('.'),
  );
  assert.deepEqual(addresses, ['192.0.2.9', '192.0.2.8']);
});

test('a field that is not supported is refused by its name; its default is not', () => {
  assert.deepEqual(clusterOf({ filters: [{ name: 'q' }] }).issues, [
    'error clusters[0].filters: filters of envoy.config.cluster.v3.Cluster is not supported yet',
  ]);
  const defaults = {
    health_checks: [],
    protocol_selection: 'USE_CONFIGURED_PROTOCOL',
  };
  assert.deepEqual(clusterOf(defaults).issues, []);
});

test('what is recorded of requests, and whether TCP ends with its host, is as the cluster says', () => {
  const { cluster, issues } = clusterOf({
    track_cluster_stats: {
      timeout_budgets: true,
      request_response_sizes: true,
      per_endpoint_stats: true,
    },
    lrs_report_endpoint_metrics: ['named_metrics.*'],
    close_connections_on_host_health_failure: true,
  });
  assert.deepEqual(issues, []);
  assert.equal(cluster?.tracks_timeout_budgets, true);
  assert.equal(cluster.tracks_sizes, true);
  assert.equal(cluster.closes_with_health, true);
  assert.equal(cluster.tracks_endpoints, true);
  assert.deepEqual(cluster.reported_metrics, ['named_metrics.*']);
});

test('a cluster name may only be used once', () => {
  assert.deepEqual(issuesOf(compileStatic({ clusters: [{ name: 'a' }, { name: 'a' }] })), [
    "error clusters[1].name: cluster manager: duplicate cluster 'a'",
  ]);
});

test('of the share below which a cluster panics nothing but whole percents count', () => {
  const pctOf = (value: number) =>
    clusterOf({ common_lb_config: { healthy_panic_threshold: { value } } }).cluster
      ?.panic_threshold_pct;
  assert.deepEqual([0.99, 1, 50.9, 100].map(pctOf), [0, 1, 50, 100]);
  // 100 * (29 / 100) is below it.
  assert.equal(pctOf(29), 28);
});

test('a transport socket that is not supported is refused by its type', () => {
  const type = 'envoy.extensions.transport_sockets.alts.v3.Alts';
  const { issues } = clusterOf({ transport_socket: { name: 'alts', typed_config: any(type) } });
  assert.deepEqual(issues, [
    `error typed_config: the extension 'alts' (${type}) is not supported yet`,
  ]);
});

test('options of TCP say nothing of HTTP, wherever they stand', () => {
  const TCP = 'envoy.extensions.upstreams.tcp.v3.TcpProtocolOptions';
  const HTTP = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
  const tcp = { [TCP]: any(TCP, { idle_timeout: '5s' }) };
  const http = {
    [HTTP]: any(HTTP, { explicit_http_config: { http2_protocol_options: {} } }),
  };
  for (const typed_extension_protocol_options of [
    { ...tcp, ...http },
    { ...http, ...tcp },
  ]) {
    const clusters = [{ name: 'a', typed_extension_protocol_options }];
    const compiled = compile({ static_resources: { clusters } });
    assert.deepEqual(issuesOf(compiled), []);
    assert.ok(compiled.update.clusters?.[0]?.http2);
  }
});
