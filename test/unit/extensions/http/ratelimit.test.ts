import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ratelimit_Requests } from '../../../../src/plan/plan.gen.js';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TYPE = 'envoy.extensions.filters.http.ratelimit.v3.RateLimit';
const SERVICE = {
  domain: 'd',
  rate_limit_service: {
    grpc_service: { envoy_grpc: { cluster_name: 'rl' }, timeout: 9000 },
    transport_api_version: 'V3',
  },
};
const KEY = { generic_key: { descriptor_value: 'x' } };
const limiter = (fields: object) => ({
  name: 'rl',
  typed_config: any(TYPE, { ...SERVICE, ...fields }),
});
const planOf = (fields: object) => compiled([limiter(fields)]).filters?.[0]?.ratelimit;
const issuesOf = (fields: object): string => compiled([limiter(fields)]).issues.join();

test("the filter's own time limit counts, 20 ms if it has none", () => {
  assert.equal(planOf({})?.service?.timeout_ms, 20);
  assert.equal(planOf({ timeout: 1000 })?.service?.timeout_ms, 1000);
});

test('statuses below 400 are the usual ones', () => {
  assert.equal(planOf({ rate_limited_status: { code: 'OK' } })?.status, 429);
  assert.equal(planOf({})?.status_on_error, 500);
  assert.equal(planOf({ request_type: 'external' })?.requests, Ratelimit_Requests.EXTERNAL);
});

test('limits of the filter have hits, ends and no stages', () => {
  const limits = [{ actions: [KEY], hits_addend: { number: 3 }, apply_on_stream_done: true }];
  const [limit] = planOf({ rate_limits: limits })?.own_limits?.limits ?? [];
  assert.equal(limit?.hits?.number, 3);
  assert.equal(limit?.at_end, true);
  assert.match(
    issuesOf({ rate_limits: [{ actions: [KEY], stage: 1 }] }),
    /'stage' field and 'disable_key' field are not supported/,
  );
});

test('what is not supported is refused by name', () => {
  assert.match(issuesOf({ enable_retry_after_header: true }), /enable_retry_after_header/);
  const extension = { extension: { name: 'expr', typed_config: any(TYPE, {}) } };
  assert.match(issuesOf({ rate_limits: [{ actions: [extension] }] }), /extension/);
});
