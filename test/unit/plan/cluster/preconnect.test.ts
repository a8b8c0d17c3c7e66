import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileStatic, issuesOf } from '../helpers.js';

function ahead(policy?: object) {
  const compiled = compileStatic({
    clusters: [{ name: 'one', ...(policy && { preconnect_policy: policy }) }],
  });
  const plan = compiled.update.clusters?.[0];
  return {
    issues: issuesOf(compiled),
    ratios: [plan?.preconnect_millionths, plan?.predictive_preconnect_millionths],
  };
}

test('ratios of 1, and none, make no connection ahead; others are kept in millionths', () => {
  assert.deepEqual(ahead(), { issues: [], ratios: [0, 0] });
  assert.deepEqual(
    ahead({ per_upstream_preconnect_ratio: 1, predictive_preconnect_ratio: 1 }).ratios,
    [0, 0],
  );
  assert.deepEqual(
    ahead({ per_upstream_preconnect_ratio: 1.1, predictive_preconnect_ratio: 3 }).ratios,
    [1_100_000, 3_000_000],
  );
});

test('which hosts may have them, their metadata say', () => {
  const compiled = compileStatic({
    clusters: [
      {
        name: 'one',
        preconnect_policy: {
          per_upstream_preconnect_ratio: 2,
          preconnect_enabled_metadata: {
            filter: 'envoy.lb',
            path: [{ key: 'a' }, { key: 'b' }],
            value: { bool_match: true },
            invert: true,
          },
        },
      },
    ],
  });
  assert.deepEqual(issuesOf(compiled), []);
  const condition = compiled.update.clusters?.[0]?.preconnect_condition;
  assert.equal(condition?.metadata_namespace, 'envoy.lb');
  assert.equal(condition.metadata_path, 'a\0b');
  assert.equal(condition.literal, 'true');
  assert.equal(condition.inverts, true);
});
