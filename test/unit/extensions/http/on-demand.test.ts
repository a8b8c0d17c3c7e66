import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const PACKAGE = 'envoy.extensions.filters.http.on_demand.v3';
const SOURCE = { path_config_source: { path: '/dev/null' } };
const filter = (fields: object) => ({
  name: 'on',
  typed_config: any(`${PACKAGE}.OnDemand`, fields),
});

test('clusters are asked for where it says so, and not longer than it says', () => {
  assert.deepEqual(compiled([filter({})]).filters?.[0]?.on_demand, {});
  const { issues, filters } = compiled([
    filter({ odcds: { source: SOURCE } }),
    filter({ odcds: { source: SOURCE, timeout: 1000 } }),
  ]);
  assert.deepEqual(issues, []);
  assert.deepEqual(
    filters?.map((one) => one.on_demand),
    [{ clusters: { source: 1, timeout_ms: 5000 } }, { clusters: { source: 1, timeout_ms: 1000 } }],
  );
});

test('a route may ask elsewhere, or nowhere', () => {
  const { issues, configs } = compiled([filter({ odcds: { source: SOURCE } })], {
    route: { on: any(`${PACKAGE}.PerRouteConfig`, {}) },
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(configs, [{ on_demand: {} }]);
});
