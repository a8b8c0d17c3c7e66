import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile, compileStatic, issuesOf } from '../helpers.js';

const detecting = (outlier_detection: object) =>
  compileStatic({ clusters: [{ name: 'origin', outlier_detection }] });
const planOf = (outlier_detection: object) => {
  const compiled = detecting(outlier_detection);
  assert.deepEqual(issuesOf(compiled), []);
  return compiled.update.clusters?.[0]?.outlier_detection;
};

test('outlier detection that says nothing has the defaults of the API, each followed by its runtime key', () => {
  const plan = planOf({});
  assert.equal(plan?.interval_ms?.value, 10_000);
  assert.equal(plan?.base_ejection_time_ms?.value, 30_000);
  assert.equal(plan?.max_ejection_time_ms?.value, 300_000);
  assert.equal(plan?.max_ejection_percent?.value, 10);
  assert.equal(plan?.consecutive_5xx?.value, 5);
  assert.equal(plan?.enforcing_consecutive_gateway_failure?.value, 0);
  assert.equal(plan?.success_rate_stdev_factor?.value, 1900);
  assert.equal(plan?.enforcing_failure_percentage?.value, 0);
  assert.equal(plan?.ends_with_health_check, true);
  assert.notEqual(plan?.consecutive_5xx?.slot, 0);
  assert.notEqual(plan?.consecutive_5xx?.slot, plan?.consecutive_gateway_failure?.slot);
});

test('what a cluster says goes before the defaults, also where it says 0', () => {
  const plan = planOf({
    consecutive_5xx: 0,
    interval: 250,
    base_ejection_time: 400_000,
    split_external_local_origin_errors: true,
    successful_active_health_check_uneject_host: false,
    always_eject_one_host: true,
    detect_degraded_hosts: true,
  });
  assert.equal(plan?.consecutive_5xx?.value, 0);
  assert.equal(plan?.interval_ms?.value, 250);
  // No less than the base time.
  assert.equal(plan?.max_ejection_time_ms?.value, 400_000);
  assert.equal(plan?.splits_local_origin, true);
  assert.equal(plan?.ends_with_health_check, false);
  assert.equal(plan?.always_ejects_one, true);
  assert.equal(plan?.detects_degraded, true);
});

test('a longest time below the base time is refused, and so are monitors', () => {
  assert.match(
    issuesOf(detecting({ base_ejection_time: 10_000, max_ejection_time: 2000 })).join(),
    /max_ejection_time: outlier detector's max_ejection_time cannot be smaller than base_ejection_time/,
  );
  const monitor = { name: 'x' };
  assert.match(
    issuesOf(detecting({ monitors: [monitor] })).join(),
    /outlier_detection\.monitors: monitors of .*OutlierDetection is not supported yet/,
  );
});

test('a cluster manager names the file of events; a service for them hears nothing', () => {
  const managed = (outlier_detection: object) =>
    compile({ cluster_manager: { outlier_detection } });
  const logged = managed({ event_log_path: '/dev/null' });
  assert.deepEqual(issuesOf(logged), []);
  assert.equal(logged.update.outlier_log_path, '/dev/null');
  assert.match(
    issuesOf(managed({ event_log_path: '/nowhere/at/all' })).join(),
    /event_log_path: unable to open file '\/nowhere\/at\/all': No such file or directory/,
  );
  const service = { grpc_service: { envoy_grpc: { cluster_name: 'hds' } } };
  assert.match(
    issuesOf(managed({ event_service: service })).join(),
    /warning .*event_service: has no effect/,
  );
});
