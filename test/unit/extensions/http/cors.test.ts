import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled, OFF } from './helpers.js';

const FILTER = { name: 'c', typed_config: any('envoy.extensions.filters.http.cors.v3.Cors') };
const POLICY = 'envoy.extensions.filters.http.cors.v3.CorsPolicy';
const policy = (max_age: string) => any(POLICY, { max_age });
const ages = (result: ReturnType<typeof compiled>): (string | undefined)[] =>
  (result.route.filters?.[0]?.configs ?? []).map((index) => result.configs?.[index]?.cors?.max_age);

test('a route has all policies that are meant for it, the most specific first', () => {
  const result = compiled([FILTER], {
    table: { c: policy('1') },
    host: { c: policy('2') },
    route: { c: policy('3') },
  });
  assert.deepEqual(result.issues, []);
  assert.deepEqual(ages(result), ['3', '2', '1']);
});

test('the older fields count where no policy has the filter’s name', () => {
  const older = { hostCors: { max_age: '2' }, routeCors: { max_age: '3' } };
  assert.deepEqual(ages(compiled([FILTER], older)), ['3', '2']);
  assert.deepEqual(ages(compiled([FILTER], { ...older, table: { c: policy('1') } })), ['1']);
  // To be on or off is no policy.
  assert.deepEqual(ages(compiled([FILTER], { ...older, route: { c: OFF } })), ['3', '2']);
});

test('shares that are left out are all and none, and origins are matchers of texts', () => {
  const { configs } = compiled([FILTER], {
    route: {
      c: any(POLICY, {
        allow_origin_string_match: [{ suffix: '.ok', ignore_case: true }],
        shadow_enabled: { default_value: { numerator: 5 } },
      }),
    },
  });
  const cors = configs?.[0]?.cors;
  assert.equal(cors?.enabled, undefined);
  assert.deepEqual(cors?.shadow, { millionths: 50_000, slot: 0 });
  assert.equal(cors?.allow_origins?.[0]?.value, '.ok');
});

test('the filter’s own message is none of a route', () => {
  const { issues } = compiled([FILTER], { route: { c: FILTER.typed_config } });
  assert.match(
    issues.join(),
    /Unable to unpack as envoy\.extensions\.filters\.http\.cors\.v3\.CorsPolicy/,
  );
});

test('a policy that says nothing stands for the filter, as the real server reads it', () => {
  const result = compiled([{ name: 'c', typed_config: any(POLICY) }], {
    route: { c: policy('3') },
  });
  assert.deepEqual(result.issues, []);
  assert.deepEqual(result.filters?.[0]?.cors, {});
  assert.deepEqual(ages(result), ['3']);
  const { issues } = compiled([{ name: 'c', typed_config: policy('1') }]);
  assert.match(
    issues.join(),
    /Unable to unpack as envoy\.extensions\.filters\.http\.cors\.v3\.Cors:/,
  );
});
