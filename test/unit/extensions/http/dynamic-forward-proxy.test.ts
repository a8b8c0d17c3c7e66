import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const PACKAGE = 'envoy.extensions.filters.http.dynamic_forward_proxy.v3';
const filter = (fields: object) => ({
  name: 'dfp',
  typed_config: any(`${PACKAGE}.FilterConfig`, fields),
});
const byRoute = (fields: object) => ({ route: { dfp: any(`${PACKAGE}.PerRouteConfig`, fields) } });

test('a dynamic_forward_proxy names its cache, and routes say what is named instead', () => {
  const result = compiled(
    [filter({ dns_cache_config: { name: 'c' } })],
    byRoute({ host_rewrite_header: 'X-Host' }),
  );
  assert.deepEqual(result.issues, []);
  assert.deepEqual(result.filters?.[0]?.dynamic_forward_proxy, {
    cache: 'c',
    cluster_timeout_ms: 5000,
  });
  assert.deepEqual(result.configs?.[0]?.name_rewrite, { literal: undefined, header: 'x-host' });
});

test('the filter state names hosts where the filter is told so', () => {
  const config = { dns_cache_config: { name: 'c' }, allow_dynamic_host_from_filter_state: true };
  const result = compiled([filter(config)], {});
  assert.deepEqual(result.issues, []);
  assert.equal(result.filters?.[0]?.dynamic_forward_proxy?.asks_state, true);
});

test('a filter for clusters of names says how long they may take', () => {
  const result = compiled([filter({ sub_cluster_config: { cluster_init_timeout: 250 } })], {});
  assert.deepEqual(result.issues, []);
  assert.equal(result.filters?.[0]?.dynamic_forward_proxy?.cluster_timeout_ms, 250);
});

test('what is not understood of it is refused by its name', () => {
  const result = compiled([filter({ save_upstream_address: true })], {});
  assert.match(
    result.issues.join(),
    /save_upstream_address of .*dynamic_forward_proxy.*FilterConfig is not supported yet/,
  );
});
