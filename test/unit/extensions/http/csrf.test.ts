import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TYPE = 'envoy.extensions.filters.http.csrf.v3.CsrfPolicy';
const policy = (fields: object) => any(TYPE, fields);
const share = (numerator: number) => ({ default_value: { numerator } });

test('a policy of csrf is the same of a filter and of a route', () => {
  const fields = { filter_enabled: share(100), additional_origins: [{ suffix: '.a' }] };
  const result = compiled([{ name: 'c', typed_config: policy(fields) }], {
    route: { c: policy({ filter_enabled: share(0), shadow_enabled: share(5) }) },
  });
  assert.deepEqual(result.issues, []);
  const own = result.filters?.[0]?.csrf;
  assert.deepEqual(own?.enabled, { millionths: 1_000_000, slot: 0 });
  assert.equal(own?.additional_origins?.[0]?.value, '.a');
  assert.deepEqual(result.configs?.[0]?.csrf?.shadow, { millionths: 50_000, slot: 0 });
});
