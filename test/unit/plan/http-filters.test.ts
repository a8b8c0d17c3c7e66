import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Any } from '../../../build/messages.gen.js';
import type { Route } from '../../../src/plan/plan.gen.js';
import { any, compileStatic, connectionManager, issuesOf, listenerOf, ROUTER } from './helpers.js';

const HEALTH_CHECK = 'envoy.extensions.filters.http.health_check.v3.HealthCheck';
const TAP = 'envoy.extensions.filters.http.tap.v3.Tap';
const FILTER_CONFIG = 'envoy.config.route.v3.FilterConfig';

const check = (name: string, fields: object = {}, filter: object = {}) => ({
  name,
  typed_config: any(HEALTH_CHECK, { pass_through_mode: false, ...fields }),
  ...filter,
});
const OFF = any(FILTER_CONFIG, { disabled: true });
const ON = any(FILTER_CONFIG, { config: {} });

type Configs = Readonly<Record<string, Any>>;
interface Toggles {
  readonly table?: Configs;
  readonly host?: Configs;
  readonly route?: Configs;
}

function compiled(filters: readonly object[], toggles: Toggles = {}) {
  const route = {
    match: { prefix: '/' },
    direct_response: { status: 200 },
    typed_per_filter_config: toggles.route ?? {},
  };
  const host = {
    name: 'all',
    domains: ['*'],
    routes: [route],
    typed_per_filter_config: toggles.host ?? {},
  };
  const route_config = { virtual_hosts: [host], typed_per_filter_config: toggles.table ?? {} };
  const manager = connectionManager(route_config, { http_filters: [...filters, ROUTER] });
  const result = compileStatic({ listeners: [listenerOf(manager)] });
  const { update } = result;
  return {
    issues: issuesOf(result),
    filters: update.listeners?.[0]?.filter_chains?.[0]?.http?.http_filters,
    toggles: (update.route_tables?.[0]?.virtual_hosts?.[0]?.routes?.[0] as Route | undefined)
      ?.filter_toggles,
    taps: result.taps,
  };
}

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

const tap = (common_config: object) => ({
  name: 'tap',
  typed_config: any(TAP, { common_config }),
});
const staticTap = (sink: object, match?: object) =>
  tap({ static_config: { match, output_config: { sinks: [sink] } } });
const FILE = { file_per_tap: { path_prefix: '/tmp/trace' } };

test('each tap has a number of its own', () => {
  const { issues, filters, taps } = compiled([
    tap({ admin_config: { config_id: 'mine' } }),
    staticTap(FILE, { any_match: true }),
  ]);
  assert.deepEqual(issues, []);
  assert.deepEqual(
    filters?.map((filter) => filter.tap?.id),
    [0, 1],
  );
  assert.deepEqual(taps[0], { configId: 'mine' });
});

test('a tap of the bootstrap needs conditions, and a file to write to', () => {
  assert.match(
    compiled([staticTap(FILE)]).issues.join(),
    /Neither match nor match_config is set in TapConfig/,
  );
  assert.match(
    compiled([staticTap({ streaming_admin: {} }, { any_match: true })]).issues.join(),
    /Specifying admin streaming output without configuring admin/,
  );
});
