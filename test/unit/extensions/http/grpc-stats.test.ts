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
  });
});

test('what grpc_stats cannot do is refused by name', () => {
  for (const name of ['emit_filter_state', 'enable_upstream_stats']) {
    assert.deepEqual(statsOf({ [name]: false }).issues, []);
    assert.match(statsOf({ [name]: true }).issues.join('\n'), new RegExp(`${name} of`));
  }
});
