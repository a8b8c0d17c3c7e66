import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileStatic, issuesOf } from '../helpers.js';

test("a limit of each host's connections counts for its priority; nothing else is limited by host", () => {
  const limited = (...per_host_thresholds: object[]) =>
    compileStatic({ clusters: [{ name: 'origin', circuit_breakers: { per_host_thresholds } }] });
  const fine = limited({ priority: 'HIGH', max_connections: 3, track_remaining: true });
  assert.deepEqual(issuesOf(fine), []);
  assert.deepEqual(
    fine.update.clusters?.[0]?.limits?.map((limits) => limits.max_connections_per_host),
    [undefined, 3],
  );
  assert.match(
    issuesOf(limited({ max_retries: 1 })).join(),
    /per_host_thresholds\[0\]\.max_retries: max_retries of .*Thresholds is not supported yet/,
  );
});

test('pools of connections are limited, and budgets of retries are of an interval, where that is said', () => {
  const compiled = compileStatic({
    clusters: [
      {
        name: 'origin',
        circuit_breakers: {
          thresholds: [
            { max_connection_pools: 0, retry_budget: { budget_interval: 1500 } },
            { priority: 'HIGH', retry_budget: {} },
          ],
        },
      },
    ],
  });
  assert.deepEqual(issuesOf(compiled), []);
  const [normal, high] = compiled.update.clusters?.[0]?.limits ?? [];
  assert.equal(normal?.max_connection_pools, 0);
  assert.equal(high?.max_connection_pools, undefined);
  assert.deepEqual(normal.retry_budget, {
    share_millionths: 200_000,
    min_concurrency: 3,
    interval_ms: 1500,
  });
  assert.equal(high?.retry_budget?.interval_ms, 0);
});
