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

test('descriptors are refused twice; those without a value are for any', () => {
  const entries = [{ key: 'a', value: 'b' }];
  const one = { entries, token_bucket: bucket() };
  assert.match(compiled([limit({ descriptors: [one, one] })]).issues.join(), /duplicate/);
  const wild = { entries: [{ key: 'a' }], token_bucket: bucket() };
  const plan = planOf({ descriptors: [wild], max_dynamic_descriptors: 3 });
  assert.deepEqual(plan?.descriptors?.[0]?.entries, [{ key: 'a', value: '' }]);
  assert.equal(plan?.most_kept_buckets, 3);
});

test('the limits of the filter stand in place of those of routes, without stages and keys', () => {
  const actions = [{ generic_key: { descriptor_value: 'v' } }];
  const plan = planOf({ stage: 1, rate_limits: [{ actions, hits_addend: { number: 2 } }] });
  const [own] = plan?.own_limits?.limits ?? [];
  assert.deepEqual(own?.actions, [{ kind: 0, key: 'generic_key', value: 'v' }]);
  assert.equal(own.hits?.number, 2);
  for (const other of [{ stage: 3 }, { disable_key: 'k' }]) {
    const { issues } = compiled([limit({ rate_limits: [{ actions, ...other }] })]);
    assert.match(issues.join(), /'stage' field and 'disable_key' field are not supported/);
  }
});

test('buckets that are shared have members of a cluster to share them', () => {
  const shared = { local_cluster_rate_limit: {} };
  assert.match(compiled([limit(shared)]).issues.join(), /no local cluster name is present/);
  const both = { ...shared, local_rate_limit_per_downstream_connection: true };
  assert.match(compiled([limit(both)]).issues.join(), /per_downstream_connection is set to true/);
});
