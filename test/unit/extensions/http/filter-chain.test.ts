import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Any } from '../../../../build/messages.gen.js';
import { any } from '../../plan/helpers.js';
import { check, compiled, FILTER_CONFIG, HEALTH_CHECK, OFF, ON } from './helpers.js';

test('filters keep their order and whether they are off', () => {
  const { issues, filters } = compiled([check('a'), check('b', {}, { disabled: true })]);
  assert.deepEqual(issues, []);
  assert.deepEqual(
    filters?.map(({ disabled }) => disabled === true),
    [false, true],
  );
  assert.equal(filters?.[0]?.health_check?.local_cluster, 'shop');
});

test('the most specific of table, host and route switches a filter, wherever it is named so', () => {
  const { issues, route } = compiled([check('a'), check('b'), check('a')], {
    table: { a: OFF, b: OFF },
    host: { b: ON },
    route: { a: ON, nobody: OFF },
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(route.filters, [
    { filter: 0, disabled: false, configs: [] },
    { filter: 1, disabled: false, configs: [] },
    { filter: 2, disabled: false, configs: [] },
  ]);
});

test('settings by route are refused for filters that have none', () => {
  const wrong = (config: Any) => compiled([check('a')], { route: { a: config } }).issues.join();
  assert.match(
    wrong(any(HEALTH_CHECK)),
    /The filter a doesn't support virtual host or route specific configurations/,
  );
  assert.match(wrong(any(FILTER_CONFIG, { config: any(HEALTH_CHECK) })), /doesn't support/);
  assert.match(
    wrong(any(FILTER_CONFIG)),
    /Empty route\/virtual host per filter configuration for a filter/,
  );
});

test('a configuration by route switches its filter on; the last word before it is another level’s', () => {
  const buffer = any('envoy.extensions.filters.http.buffer.v3.Buffer', { max_request_bytes: 1 });
  const own = any('envoy.extensions.filters.http.buffer.v3.BufferPerRoute', { disabled: true });
  const { issues, route } = compiled([{ name: 'b', typed_config: buffer, disabled: true }], {
    host: { b: OFF },
    route: { b: any(FILTER_CONFIG, { config: own }) },
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(route.filters, [{ filter: 0, disabled: false, configs: [0] }]);
});

test('a weighted cluster has the last word of all', () => {
  const { route } = compiled([check('a')], { route: { a: ON }, weighted: { a: OFF } });
  assert.deepEqual(route.cluster?.weighted?.clusters?.[0]?.filters, [
    { filter: 0, disabled: true, configs: [] },
  ]);
});

test('what nobody knows is left out where it is optional, and refused elsewhere', () => {
  const unknown = (is_optional: boolean) =>
    compiled([check('a')], {
      route: { a: any(FILTER_CONFIG, { config: any('no.such.Message'), is_optional }) },
    }).issues.join();
  assert.match(unknown(true), /^warning .*Didn't find a registered implementation for 'a'/);
  assert.match(unknown(false), /^error .*Didn't find a registered implementation for 'a'/);
});
