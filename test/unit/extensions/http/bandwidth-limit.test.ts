import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TYPE = 'envoy.extensions.filters.http.bandwidth_limit.v3.BandwidthLimit';
const filter = (fields: object) => ({ name: 'f', typed_config: any(TYPE, fields) });

test('a bandwidth limit of a route has to say how much', () => {
  const own = { stat_prefix: 's', enable_mode: 'RESPONSE', limit_kbps: 5, fill_interval: 20 };
  const result = compiled([filter(own)], {
    route: { f: any(TYPE, { stat_prefix: 's' }) },
  });
  assert.match(result.issues.join('\n'), /limit must be set for per route filter config/);
  const plan = result.filters?.[0]?.bandwidth_limit;
  assert.deepEqual(
    [plan?.limits_request, plan?.limits_response, plan?.limit_kbps, plan?.fill_interval_ms],
    [false, true, 5, 20],
  );
});
