import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

test('connect_grpc_bridge has nothing to be configured', () => {
  const typed_config = any('envoy.extensions.filters.http.connect_grpc_bridge.v3.FilterConfig', {});
  const { issues, filters } = compiled([{ name: 'c', typed_config }]);
  assert.deepEqual(issues, []);
  assert.deepEqual(filters?.[0]?.connect_grpc_bridge, {});
});
