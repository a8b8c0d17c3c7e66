import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compileStatic, issuesOf } from '../helpers.js';

const aggregate = (clusters: string[], fields: object = {}) =>
  compileStatic({
    clusters: [
      {
        name: 'all',
        lb_policy: 'CLUSTER_PROVIDED',
        cluster_type: {
          name: 'envoy.clusters.aggregate',
          typed_config: any('envoy.extensions.clusters.aggregate.v3.ClusterConfig', { clusters }),
        },
        ...fields,
      },
    ],
  });

test('an aggregate has members and no hosts of its own; members may come later', () => {
  const compiled = aggregate(['first', 'second']);
  assert.deepEqual(issuesOf(compiled), []);
  assert.deepEqual(compiled.update.clusters?.[0]?.members, ['first', 'second']);
  assert.deepEqual(compiled.update.assignments, []);
});

test('an aggregate of nothing is none, with or without a configuration', () => {
  const bare = { cluster_type: { name: 'envoy.clusters.aggregate' } };
  assert.match(issuesOf(aggregate([], bare)).join(), /clusters: value must contain at least 1/);
});

test('only the kind of cluster says where requests go', () => {
  assert.match(
    issuesOf(aggregate(['first'], { lb_policy: 'ROUND_ROBIN' })).join(),
    /cluster provided LB not specified but cluster 'all' provided one/,
  );
  const policies = (type: string) => ({
    lb_policy: 'ROUND_ROBIN',
    load_balancing_policy: {
      policies: [{ typed_extension_config: { name: 'p', typed_config: any(type) } }],
    },
  });
  const POLICIES = 'envoy.extensions.load_balancing_policies';
  const provided = policies(`${POLICIES}.cluster_provided.v3.ClusterProvided`);
  assert.deepEqual(issuesOf(aggregate(['first'], provided)), []);
  const other = policies(`${POLICIES}.round_robin.v3.RoundRobin`);
  assert.match(issuesOf(aggregate(['first'], other)).join(), /cluster provided LB not specified/);
});
