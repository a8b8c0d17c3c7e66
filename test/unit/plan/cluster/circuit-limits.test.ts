import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileStatic, issuesOf } from '../helpers.js';

test("a limit of each host's connections counts for its priority; nothing else is limited by host", () => {
  const limited = (...per_host_thresholds: object[]) =>
    compileStatic({ clusters: [{ name: 'origin', circuit_breakers: { per_host_thresholds } }] });
  const fine = limited({ priority: 'HIGH', max_connections: 3 });
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
