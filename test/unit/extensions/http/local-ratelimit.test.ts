import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TYPE = 'envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit';
const bucket = (fields: object = {}) => ({ max_tokens: 2, fill_interval: 60_000, ...fields });
const limit = (fields: object = {}) => ({
  name: 'l',
  typed_config: any(TYPE, { stat_prefix: 'rl', token_bucket: bucket(), ...fields }),
});
const planOf = (fields: object) => compiled([limit(fields)]).filters?.[0]?.local_ratelimit;

test('without a word of it a limit is off, and answers 429', () => {
  const plan = planOf({});
  assert.equal(plan?.enabled, undefined);
  assert.equal(plan?.status, 429);
  assert.equal(plan?.always_asks_bucket, true);
  assert.deepEqual(plan?.bucket, {
    max_tokens: 2,
    tokens_per_fill: 1,
    fill_interval_us: 60_000_000,
  });
});

test('a status below 400 is 429, too', () => {
  assert.equal(planOf({ status: { code: 'OK' } })?.status, 429);
  assert.equal(planOf({ status: { code: 'ServiceUnavailable' } })?.status, 503);
});

test('a bucket is filled every 50 ms at the most often', () => {
  const { issues } = compiled([limit({ token_bucket: bucket({ fill_interval: 49 }) })]);
  assert.match(issues.join(), /fill timer must be >= 50ms/);
});

test('a route has a bucket of its own, or nothing to say', () => {
  const route = { l: any(TYPE, { stat_prefix: 'own' }) };
  assert.match(compiled([limit()], { route }).issues.join(), /token bucket must be set/);
});

test('descriptors are refused twice, and for any value', () => {
  const entries = [{ key: 'a', value: 'b' }];
  const one = { entries, token_bucket: bucket() };
  assert.match(compiled([limit({ descriptors: [one, one] })]).issues.join(), /duplicate/);
  const wild = { entries: [{ key: 'a' }], token_bucket: bucket() };
  assert.match(compiled([limit({ descriptors: [wild] })]).issues.join(), /any value of 'a'/);
});

test('the limits of the filter stand in place of those of routes, whatever their stage', () => {
  const rate_limits = [
    { stage: 3, actions: [{ generic_key: { descriptor_value: 'v' } }] },
    { disable_key: 'k', actions: [{ remote_address: {} }] },
  ];
  const plan = planOf({ stage: 1, rate_limits });
  assert.deepEqual(plan?.own_limits?.limits, [
    { stage: 1, actions: [{ kind: 0, key: 'generic_key', value: 'v' }] },
  ]);
});
