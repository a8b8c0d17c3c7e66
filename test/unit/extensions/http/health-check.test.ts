import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, compiled } from './helpers.js';

test('answers are only remembered where health checks are passed on', () => {
  const { issues } = compiled([check('a', { cache_time: 1000 })]);
  assert.match(issues.join(), /cache_time_ms must not be set when path_through_mode is disabled/);
  assert.deepEqual(
    compiled([check('a', { cache_time: 1000, pass_through_mode: true })]).issues,
    [],
  );
});

test('who passes health checks on does not look at clusters', () => {
  const wanted = { cluster_min_healthy_percentages: { a: { value: 12.9 } } };
  const of = (fields: object) => compiled([check('a', fields)]).filters?.[0]?.health_check;
  assert.deepEqual(of(wanted)?.min_healthy, [{ cluster: 'a', percent: 12 }]);
  assert.deepEqual(of({ ...wanted, pass_through_mode: true })?.min_healthy, []);
});
