import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TYPE = 'envoy.extensions.filters.http.adaptive_concurrency.v3.AdaptiveConcurrency';
const filter = (fields: object) => ({ name: 'f', typed_config: any(TYPE, fields) });

test('adaptive concurrency follows its runtime keys, whatever the configuration says', () => {
  const gradient_controller_config = {
    concurrency_limit_params: { concurrency_update_interval: 100 },
    min_rtt_calc_params: { interval: 60_000 },
  };
  const { issues, filters } = compiled([filter({ gradient_controller_config })]);
  assert.deepEqual(issues, []);
  const plan = filters?.[0]?.adaptive_concurrency;
  assert.equal(plan?.status, 503);
  assert.equal(plan?.update_interval_ms?.value, 100);
  assert.equal(plan?.min_concurrency?.value, 3);
  assert.ok((plan?.min_concurrency?.slot ?? 0) > 0);
  assert.equal(plan?.sample_percentile?.value, 50_000_000);
});

test('the least time is measured at intervals, or known', () => {
  const gradient_controller_config = {
    concurrency_limit_params: { concurrency_update_interval: 100 },
    min_rtt_calc_params: {},
  };
  const { issues } = compiled([filter({ gradient_controller_config })]);
  assert.match(issues.join('\n'), /neither `concurrency_update_interval` nor `fixed_value` set/);
});
