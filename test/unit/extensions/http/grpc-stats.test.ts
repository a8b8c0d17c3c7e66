import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const statsOf = (fields: object) =>
  compiled([
    {
      name: 's',
      typed_config: any('envoy.extensions.filters.http.grpc_stats.v3.FilterConfig', fields),
    },
  ]);

test('methods are listed by their paths', () => {
  const { issues, filters } = statsOf({
    individual_method_stats_allowlist: {
      services: [{ name: 'a.B', method_names: ['C', 'D'] }],
    },
    replace_dots_in_grpc_service_name: true,
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(filters?.[0]?.grpc_stats, {
    all_methods: undefined,
    paths: ['/a.B/C', '/a.B/D'],
    replaces_dots: true,
    records_times: undefined,
    has_filter_state: undefined,
  });
});

test('times are recorded, and logs may ask for figures, where that is wanted', () => {
  const { issues, filters } = statsOf({ enable_upstream_stats: true, emit_filter_state: true });
  assert.deepEqual(issues, []);
  assert.equal(filters?.[0]?.grpc_stats?.records_times, true);
  assert.equal(filters[0].grpc_stats.has_filter_state, true);
});
