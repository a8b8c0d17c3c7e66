import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterOverrides } from '../../../src/runtime/cluster-overrides.js';
import { structEntries } from '../../../src/runtime/layer.js';

function overridesOf(struct: Readonly<Record<string, unknown>>): object[] {
  const layers = [{ name: 'layer', entries: structEntries(struct) }];
  const overrides = clusterOverrides({ layers, diskLayerCount: 0, faults: [] });
  return [...overrides.values()].map((one) => ({ ...one }));
}

test('limits are read by cluster and priority; a name may hold dots', () => {
  const struct = {
    'circuit_breakers.a.default.b.high.max_retries': 0,
    'circuit_breakers.a.default.b.default.max_connections': 9e15,
  };
  assert.deepEqual(overridesOf(struct), [
    {
      cluster_name: 'a.default.b',
      limits: [{ max_connections: 0xffff_ffff }, { max_retries: 0 }],
      maintenance_millionths: 0,
    },
  ]);
});

test('pools and the interval of a retry budget are among them', () => {
  const struct = {
    'circuit_breakers.a.default.max_connection_pools': 2,
    'circuit_breakers.a.high.retry_budget.budget_interval': 500,
  };
  assert.deepEqual(overridesOf(struct), [
    {
      cluster_name: 'a',
      limits: [{ max_connection_pools: 2 }, { retry_interval_ms: 500 }],
      maintenance_millionths: 0,
    },
  ]);
});

test('maintenance is a share, of a hundred unless it says otherwise', () => {
  const struct = {
    'upstream.maintenance_mode.a': 25,
    'upstream.maintenance_mode.b': { numerator: 3, denominator: 'TEN_THOUSAND' },
  };
  const limits = [{}, {}];
  assert.deepEqual(overridesOf(struct), [
    { cluster_name: 'a', limits, maintenance_millionths: 250_000 },
    { cluster_name: 'b', limits, maintenance_millionths: 300 },
  ]);
});

test('other keys, and values that are no numbers, say nothing of a cluster', () => {
  const struct = {
    'circuit_breakers.a.default.max_connections': 'many',
    'circuit_breakers.a.default.max_pools': 1,
    'circuit_breakers.a.low.max_requests': 1,
    'upstream.healthy_panic_threshold': 5,
  };
  assert.deepEqual(overridesOf(struct), []);
});
