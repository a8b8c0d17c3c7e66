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
  const { issues, toggles } = compiled([check('a'), check('b'), check('a')], {
    table: { a: OFF, b: OFF },
    host: { b: ON },
    route: { a: ON, nobody: OFF },
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(toggles, [
    { filter: 0, disabled: false },
    { filter: 1, disabled: false },
    { filter: 2, disabled: false },
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
