import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

test('grpc_http1_bridge puts bare messages into frames where that is wanted', () => {
  const typed_config = any('envoy.extensions.filters.http.grpc_http1_bridge.v3.Config', {
    upgrade_protobuf_to_grpc: true,
    ignore_query_parameters: true,
  });
  const { issues, filters } = compiled([{ name: 'b', typed_config }]);
  assert.deepEqual(issues, []);
  assert.deepEqual(filters?.[0]?.grpc_http1_bridge, {
    upgrade_protobuf: true,
    ignores_query: true,
  });
});
