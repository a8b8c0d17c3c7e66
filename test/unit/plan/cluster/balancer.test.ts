import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Cluster_Balancer,
  HashTable_Function,
  type Cluster,
} from '../../../../src/plan/plan.gen.js';
import { any, compile, compileStatic, issuesOf } from '../helpers.js';

const LB = 'envoy.extensions.load_balancing_policies';

function clusterOf(fields: object): { issues: string[]; cluster: Cluster | undefined } {
  const compiled = compileStatic({ clusters: [{ name: 'origin', ...fields }] });
  return { issues: issuesOf(compiled), cluster: compiled.update.clusters?.[0] };
}

function policyOf(type: string, config: object = {}) {
  return clusterOf({
    load_balancing_policy: {
      policies: [{ typed_extension_config: { name: 'x', typed_config: any(type, config) } }],
    },
  });
}

test('a ring has the sizes of the real server, unless it is told otherwise', () => {
  const { cluster } = clusterOf({ lb_policy: 'RING_HASH' });
  assert.equal(cluster?.balancer, Cluster_Balancer.RING_HASH);
  assert.equal(cluster.hash_table?.min_size, 1024);
  assert.equal(cluster.hash_table?.max_size, 8_388_608);
  assert.equal(cluster.hash_table?.function, HashTable_Function.XX_HASH);
  const { cluster: other } = clusterOf({
    type: 'STRICT_DNS',
    lb_policy: 'RING_HASH',
    ring_hash_lb_config: { minimum_ring_size: 5, hash_function: 'MURMUR_HASH_2' },
    common_lb_config: {
      consistent_hashing_lb_config: { use_hostname_for_hashing: true, hash_balance_factor: 150 },
    },
  });
  assert.equal(other?.hash_table?.min_size, 5);
  assert.equal(other.hash_table?.function, HashTable_Function.MURMUR_HASH_2);
  assert.equal(other.hash_table?.by_hostname, true);
  assert.equal(other.hash_table?.balance_factor_pct, 150);
});

test('a ring that must be larger than it may be is refused', () => {
  const sizes = { minimum_ring_size: 9, maximum_ring_size: 8 };
  assert.deepEqual(clusterOf({ lb_policy: 'RING_HASH', ring_hash_lb_config: sizes }).issues, [
    'error clusters[0].ring_hash_lb_config: ring hash: minimum_ring_size (9) > maximum_ring_size (8)',
  ]);
  const [issue] = policyOf(`${LB}.ring_hash.v3.RingHash`, sizes).issues;
  assert.match(issue ?? '', /minimum_ring_size \(9\) > maximum_ring_size \(8\)$/);
});

test('hosts are only known by their names where DNS is asked for them', () => {
  const { issues } = clusterOf({
    lb_policy: 'MAGLEV',
    common_lb_config: { consistent_hashing_lb_config: { use_hostname_for_hashing: true } },
  });
  assert.deepEqual(issues, [
    'error clusters[0].common_lb_config.consistent_hashing_lb_config.use_hostname_for_hashing: ' +
      "Cannot use hostname for consistent hashing loadbalancing for cluster of type: 'envoy.cluster.static'",
  ]);
});

test("Maglev's table has a prime size", () => {
  assert.equal(clusterOf({ lb_policy: 'MAGLEV' }).cluster?.hash_table?.table_size, 65_537);
  assert.deepEqual(
    clusterOf({ lb_policy: 'MAGLEV', maglev_lb_config: { table_size: 65_536 } }).issues,
    [
      'error clusters[0].maglev_lb_config.table_size: The table size of maglev must be prime number',
    ],
  );
  const { cluster } = policyOf(`${LB}.maglev.v3.Maglev`, {
    table_size: 499,
    consistent_hashing_lb_config: { use_hostname_for_hashing: true },
    locality_weighted_lb_config: {},
  });
  assert.equal(cluster?.balancer, Cluster_Balancer.MAGLEV);
  assert.equal(cluster.hash_table?.table_size, 499);
  assert.equal(cluster.hash_table?.by_hostname, true);
  assert.equal(cluster.weighs_localities, true);
});

test('what configures another balancer has no effect, and that is said', () => {
  const { issues } = clusterOf({ lb_policy: 'RANDOM', maglev_lb_config: { table_size: 4 } });
  assert.deepEqual(issues, [
    'warning clusters[0].maglev_lb_config: has no effect beside lb_policy: RANDOM',
  ]);
});

test('slow start and the bias of active requests are in millionths', () => {
  const { cluster } = clusterOf({
    lb_policy: 'LEAST_REQUEST',
    least_request_lb_config: {
      active_request_bias: { default_value: 0.5, runtime_key: 'bias' },
      slow_start_config: {
        slow_start_window: 30_000,
        aggression: { default_value: 2 },
        min_weight_percent: { value: 25 },
      },
    },
  });
  assert.equal(cluster?.request_bias_millionths, 500_000);
  assert.notEqual(cluster.request_bias_slot, 0);
  assert.deepEqual(cluster.slow_start, {
    window_ms: 30_000,
    aggression_millionths: 2_000_000,
    aggression_slot: 0,
    min_share_millionths: 250_000,
  });
});

test('localities share by weight where the cluster or its balancer says so', () => {
  const old = clusterOf({ common_lb_config: { locality_weighted_lb_config: {} } });
  assert.equal(old.cluster?.weighs_localities, true);
  for (const name of ['round_robin.v3.RoundRobin', 'random.v3.Random']) {
    const typed = policyOf(`${LB}.${name}`, {
      locality_lb_config: { locality_weighted_lb_config: {} },
    });
    assert.deepEqual(typed.issues, []);
    assert.equal(typed.cluster?.weighs_localities, true);
  }
});

test('zones count once a cluster is known as the own one, for all others', () => {
  const [own, other] =
    compile({
      node: { locality: { region: 'eu', zone: 'a' } },
      cluster_manager: { local_cluster_name: 'own' },
      static_resources: {
        clusters: [
          { name: 'own' },
          {
            name: 'other',
            common_lb_config: {
              zone_aware_lb_config: {
                routing_enabled: { value: 40 },
                min_cluster_size: 3,
                fail_traffic_on_panic: true,
              },
            },
          },
        ],
      },
    }).update.clusters ?? [];
  assert.equal(own?.is_local, true);
  assert.equal(other?.is_local, false);
  assert.equal(other.fails_in_panic, true);
  assert.equal(other.zones?.zone, 'a');
  assert.equal(other.zones?.enabled_millionths, 400_000);
  assert.equal(other.zones?.min_cluster_size, 3);
  assert.equal(own.zones?.min_cluster_size, 6);
  assert.equal(clusterOf({}).cluster?.zones, undefined);
});

test('a zone is forced from one host on, unless it says how many', () => {
  const forcedBy = (zones: object) =>
    compile({
      cluster_manager: { local_cluster_name: 'own' },
      static_resources: {
        clusters: [
          {
            name: 'own',
            load_balancing_policy: {
              policies: [
                {
                  typed_extension_config: {
                    name: 'x',
                    typed_config: any(`${LB}.round_robin.v3.RoundRobin`, {
                      locality_lb_config: { zone_aware_lb_config: zones },
                    }),
                  },
                },
              ],
            },
          },
        ],
      },
    }).update.clusters?.[0]?.zones;
  assert.equal(forcedBy({})?.forced_from, undefined);
  assert.equal(forcedBy({ force_local_zone: {} })?.forced_from, 1);
  assert.equal(forcedBy({ force_local_zone: { min_size: 4 } })?.forced_from, 4);
  assert.equal(forcedBy({ force_locality_direct_routing: true })?.forced_from, 1);
  assert.equal(forcedBy({ locality_basis: 'HEALTHY_HOSTS_WEIGHT' })?.by_weight, true);
});

test('a local cluster that is not there is refused', () => {
  const compiled = compile({ cluster_manager: { local_cluster_name: 'nobody' } });
  assert.deepEqual(issuesOf(compiled), [
    "error cluster_manager.local_cluster_name: local cluster 'nobody' must be defined",
  ]);
});

test('hosts have the weight of their locality where it is named, and the key by which tables know them', () => {
  const compiled = compileStatic({
    clusters: [
      {
        name: 'origin',
        load_assignment: {
          policy: { weighted_priority_health: true },
          endpoints: [
            {
              load_balancing_weight: 7,
              lb_endpoints: [
                {
                  endpoint: {
                    address: { socket_address: { address: '192.0.2.2', port_value: 1 } },
                  },
                },
              ],
            },
            {
              locality: {},
              load_balancing_weight: 5,
              lb_endpoints: [
                {
                  endpoint: {
                    address: { socket_address: { address: '192.0.2.1', port_value: 1 } },
                  },
                  metadata: { filter_metadata: { 'envoy.lb': { hash_key: 'k' } } },
                },
              ],
            },
          ],
        },
      },
    ],
  });
  const assignment = compiled.update.assignments?.[0];
  assert.equal(assignment?.weighs_health, true);
  const [first, second] = assignment.hosts ?? [];
  assert.equal(first?.locality_weight, undefined);
  assert.equal(second?.locality_weight, 5);
  assert.equal(second.hash_key, 'k');
});

test('a hash policy of a typed balancer says what it is made of', () => {
  const type = 'envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash';
  const typed_config = any(type, { consistent_hashing_lb_config: { hash_policy: [{}] } });
  const compiled = compileStatic({
    clusters: [
      {
        name: 'a',
        load_balancing_policy: {
          policies: [{ typed_extension_config: { name: 'r', typed_config } }],
        },
      },
    ],
  });
  assert.match(issuesOf(compiled).join(), /hash_policy\[0\]: has no policy_specifier/);
});
