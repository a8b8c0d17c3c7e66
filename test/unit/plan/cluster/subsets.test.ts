import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Subsets_Fallback, SubsetSelector_Fallback } from '../../../../src/plan/plan.gen.js';
import { compileMetadataMatch } from '../../../../src/plan/route/metadata-match.js';
import { any, compileStatic, issuesOf } from '../helpers.js';

const LB = 'envoy.extensions.load_balancing_policies';

function clusterOf(fields: object) {
  const compiled = compileStatic({ clusters: [{ name: 'origin', ...fields }] });
  return { issues: issuesOf(compiled), cluster: compiled.update.clusters?.[0] };
}

const policy = (type: string, config: object) => ({
  policies: [{ typed_extension_config: { name: 'x', typed_config: any(type, config) } }],
});

const labelled = (labels: Record<string, unknown>) => ({ filter_metadata: { 'envoy.lb': labels } });

test('subsets have sorted keys, and what becomes of requests that find none', () => {
  const { cluster, issues } = clusterOf({
    lb_subset_config: {
      fallback_policy: 'DEFAULT_SUBSET',
      default_subset: { stage: 'prod' },
      subset_selectors: [
        { keys: ['version', 'stage'] },
        { keys: ['a', 'b'], fallback_policy: 'KEYS_SUBSET', fallback_keys_subset: ['a'] },
      ],
    },
  });
  assert.deepEqual(issues, []);
  assert.equal(cluster?.subsets?.fallback, Subsets_Fallback.DEFAULT);
  assert.deepEqual(cluster.subsets.default_labels, ['stage="prod"']);
  const [first, second] = cluster.subsets.selectors ?? [];
  assert.deepEqual(first?.keys, ['stage', 'version']);
  assert.equal(first.fallback, SubsetSelector_Fallback.OF_CLUSTER);
  assert.equal(second?.fallback, SubsetSelector_Fallback.KEYS);
});

test('a selector without keys finds nothing, and what becomes of requests stays', () => {
  const config = { default_subset: { v: 1 }, fallback_policy: 'DEFAULT_SUBSET' };
  const { cluster, issues } = clusterOf({
    lb_subset_config: { ...config, subset_selectors: [{ keys: [] }, { keys: ['v'] }] },
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(
    cluster?.subsets?.selectors?.map(({ keys }) => keys),
    [['v']],
  );
  const unasked = { keys: [], fallback_keys_subset: ['a'] };
  assert.deepEqual(clusterOf({ lb_subset_config: { subset_selectors: [unasked] } }).issues, []);
  const alone = clusterOf({ lb_subset_config: { ...config, subset_selectors: [{}] } }).cluster;
  assert.deepEqual(alone?.subsets?.selectors, []);
  assert.equal(alone.subsets.fallback, Subsets_Fallback.DEFAULT);
});

test('without selectors there are subsets where a policy says so alone', () => {
  const config = { fallback_policy: 'ANY_ENDPOINT' };
  assert.equal(clusterOf({ lb_subset_config: config }).cluster?.subsets, undefined);
  const { cluster } = clusterOf({
    load_balancing_policy: policy(`${LB}.subset.v3.Subset`, {
      ...config,
      subset_lb_policy: policy(`${LB}.random.v3.Random`, {}),
    }),
  });
  assert.deepEqual(cluster?.subsets?.selectors, []);
  assert.equal(cluster.subsets.fallback, Subsets_Fallback.ANY);
});

test('keys to fall back to must be some of the selector, and fewer', () => {
  const issueOf = (fallback_keys_subset: string[]) =>
    clusterOf({
      lb_subset_config: {
        subset_selectors: [
          { keys: ['a', 'b'], fallback_policy: 'KEYS_SUBSET', fallback_keys_subset },
        ],
      },
    }).issues[0];
  assert.match(issueOf([]) ?? '', /fallback_keys_subset cannot be empty/);
  assert.match(issueOf(['c']) ?? '', /fallback_keys_subset must be a subset of selector keys/);
  assert.match(issueOf(['b', 'a']) ?? '', /fallback_keys_subset cannot be equal to keys/);
  assert.equal(issueOf(['a']), undefined);
});

test('keys to fall back to belong to the policy that falls back to them', () => {
  const { issues } = clusterOf({
    lb_subset_config: {
      subset_selectors: [
        { keys: ['a', 'b'], fallback_policy: 'NO_FALLBACK', fallback_keys_subset: ['a'] },
      ],
    },
  });
  assert.equal(issues.length, 1);
  assert.match(issues[0] ?? '', /can be set only for KEYS_SUBSET/);
});

test('weights of localities only count within subsets where that is asked for', () => {
  const weighsBy = (aware: boolean) =>
    clusterOf({
      common_lb_config: { locality_weighted_lb_config: {} },
      lb_subset_config: { subset_selectors: [{ keys: ['a'] }], locality_weight_aware: aware },
    }).cluster?.weighs_localities;
  assert.equal(weighsBy(true), true);
  assert.equal(weighsBy(false), false);
  const unweighed = clusterOf({
    lb_subset_config: { subset_selectors: [{ keys: ['a'] }], locality_weight_aware: true },
  });
  assert.match(unweighed.issues.join(), /requires that a locality_weighted_lb_config be set in/);
});

test('a policy of subsets has the balancer of each within', () => {
  const { cluster, issues } = clusterOf({
    load_balancing_policy: policy(`${LB}.subset.v3.Subset`, {
      subset_selectors: [{ keys: ['a'] }],
      allow_redundant_keys: true,
      subset_lb_policy: policy(`${LB}.maglev.v3.Maglev`, { table_size: 7 }),
    }),
  });
  assert.deepEqual(issues, []);
  assert.equal(cluster?.subsets?.allows_redundant_keys, true);
  assert.equal(cluster.hash_table?.table_size, 7);
  const nested = clusterOf({
    load_balancing_policy: policy(`${LB}.wrr_locality.v3.WrrLocality`, {
      endpoint_picking_policy: policy(
        `${LB}.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin`,
        {},
      ),
    }),
  });
  assert.equal(nested.cluster?.weighs_localities, true);
});

test("what a route's cluster asks of hosts goes over what the route does", () => {
  const match = compileMetadataMatch(
    labelled({ version: '1', stage: 'prod' }),
    labelled({ version: '2' }),
  );
  assert.deepEqual(match?.labels, ['stage="prod"', 'version="2"']);
  assert.equal(compileMetadataMatch({ filter_metadata: { other: { a: 1 } } }), undefined);
});

test('a list of fallbacks goes over the rest, each by itself', () => {
  const match = compileMetadataMatch(
    labelled({ version: '1', fallback_list: [{ version: '2' }, {}] }),
  );
  assert.deepEqual(match?.fallbacks, [{ labels: ['version="2"'] }, { labels: ['version="1"'] }]);
});
