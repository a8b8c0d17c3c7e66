import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compileStatic, issuesOf } from '../helpers.js';

const LB = 'envoy.extensions.load_balancing_policies';
const WEIGHTED = `${LB}.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin`;

const policy = (type: string, config: object) => ({
  policies: [{ typed_extension_config: { name: 'x', typed_config: any(type, config) } }],
});

function clusterOf(type: string, config: object) {
  const fields = { name: 'origin', load_balancing_policy: policy(type, config) };
  const compiled = compileStatic({ clusters: [fields] });
  return { issues: issuesOf(compiled), cluster: compiled.update.clusters?.[0] };
}

test('weights by load have the times of the real server where nothing is said', () => {
  const { cluster, issues } = clusterOf(WEIGHTED, {});
  assert.deepEqual(issues, []);
  assert.deepEqual(cluster?.load_weights, {
    blackout_ms: 10_000,
    expiration_ms: 180_000,
    update_ms: 1000,
    error_penalty_millionths: 0,
    metrics: undefined,
  });
});

test('what is said of load counts', () => {
  const { cluster } = clusterOf(WEIGHTED, {
    blackout_period: 1000,
    weight_update_period: 50,
    error_utilization_penalty: 1.5,
    metric_names_for_computing_utilization: ['named_metrics.queue'],
  });
  assert.equal(cluster?.load_weights?.blackout_ms, 1000);
  assert.equal(cluster.load_weights.update_ms, 50);
  assert.equal(cluster.load_weights.error_penalty_millionths, 1_500_000);
  assert.deepEqual(cluster.load_weights.metrics, ['named_metrics.queue']);
});

test('hosts are asked for their load where that is wanted, every ten seconds unless told otherwise', () => {
  const { cluster, issues } = clusterOf(WEIGHTED, { enable_oob_load_report: true });
  assert.deepEqual(issues, []);
  assert.equal(cluster?.load_questions?.period_ms, 10_000);
  assert.equal(cluster.load_questions.goes_by_labels, false);
  assert.ok(cluster.load_questions.http2);
  const asked = clusterOf(WEIGHTED, {
    enable_oob_load_report: true,
    oob_reporting_period: 500,
    oob_reporting_config: {
      port_value: 9001,
      authority: 'orca',
      transport_socket_match_criteria: { role: 'orca' },
    },
  }).cluster?.load_questions;
  assert.equal(asked?.period_ms, 500);
  assert.equal(asked.port, 9001);
  assert.equal(asked.authority, 'orca');
  assert.equal(asked.goes_by_labels, true);
  assert.deepEqual(asked.socket_labels, ['role="orca"']);
  const unasked = clusterOf(WEIGHTED, { oob_reporting_config: { port_value: 9001 } });
  assert.deepEqual(unasked.issues, []);
  assert.equal(unasked.cluster?.load_questions, undefined);
});

const BY_LOAD = `${LB}.load_aware_locality.v3.LoadAwareLocality`;

test('localities by load have the rules of the real server where nothing is said', () => {
  const { cluster, issues } = clusterOf(BY_LOAD, {
    endpoint_picking_policy: policy(`${LB}.least_request.v3.LeastRequest`, {}),
  });
  assert.deepEqual(issues, []);
  assert.equal(cluster?.weighs_localities, false);
  assert.deepEqual(cluster.locality_loads, {
    update_ms: 1000,
    metrics: undefined,
    threshold_millionths: 100_000,
    smoothing_ms: 5000,
    probe_millionths: 30_000,
    expiration_ms: 180_000,
    region: undefined,
    zone: undefined,
    sub_zone: undefined,
  });
});

test('localities by load choose among their hosts by what looks at these alone', () => {
  const by = (type: string, config: object = {}) =>
    clusterOf(BY_LOAD, { endpoint_picking_policy: policy(type, config) }).issues[0] ?? '';
  assert.equal(by(WEIGHTED), '');
  assert.match(
    by(`${LB}.ring_hash.v3.RingHash`),
    /not supported yet as an endpoint picking policy/,
  );
  const inner = { endpoint_picking_policy: policy(`${LB}.random.v3.Random`, {}) };
  assert.match(by(BY_LOAD, inner), /cannot be its own endpoint_picking_policy/);
});

test('localities by weight have hosts by load alone', () => {
  const localities = (type: string) =>
    clusterOf(`${LB}.wrr_locality.v3.WrrLocality`, { endpoint_picking_policy: policy(type, {}) });
  assert.equal(localities(WEIGHTED).cluster?.weighs_localities, true);
  assert.match(
    localities(`${LB}.round_robin.v3.RoundRobin`).issues[0] ?? '',
    /only supports ClientSideWeightedRoundRobinLoadBalancer/,
  );
});

test('requests name their hosts by headers and metadata, before a balancer of any kind', () => {
  const { cluster, issues } = clusterOf(`${LB}.override_host.v3.OverrideHost`, {
    override_host_sources: [{ header: 'X-Host' }, { metadata: { key: 'm', path: [{ key: 'h' }] } }],
    selected_host_key: { key: 'told', path: [{ key: 'a' }, { key: 'b' }] },
    fallback_policy: policy(`${LB}.maglev.v3.Maglev`, { table_size: 7 }),
  });
  assert.deepEqual(issues, []);
  assert.equal(cluster?.hash_table?.table_size, 7);
  const rules = cluster.host_overrides;
  assert.deepEqual(
    rules?.sources?.map(({ header, metadata_namespace: space, metadata_path: path }) => [
      header,
      space,
      path,
    ]),
    [
      ['x-host', undefined, undefined],
      [undefined, 'm', ['h']],
    ],
  );
  assert.equal(rules?.told_namespace, 'told');
  assert.deepEqual(rules.told_path, ['a', 'b']);
  const empty = clusterOf(`${LB}.override_host.v3.OverrideHost`, {
    override_host_sources: [{}],
    fallback_policy: policy(`${LB}.random.v3.Random`, {}),
  });
  assert.match(empty.issues[0] ?? '', /Empty override source/);
});

test('hashes of a policy go before those of routes', () => {
  const { cluster } = clusterOf(`${LB}.ring_hash.v3.RingHash`, {
    consistent_hashing_lb_config: { hash_policy: [{ header: { header_name: 'X-User' } }] },
  });
  assert.equal(cluster?.request_rules?.hash_policies?.[0]?.header?.name, 'x-user');
});
