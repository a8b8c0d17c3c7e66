import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

test('the filter grpc_web has nothing to say', () => {
  const typed_config = any('envoy.extensions.filters.http.grpc_web.v3.GrpcWeb');
  const { issues, filters } = compiled([{ name: 'w', typed_config }]);
  assert.deepEqual(issues, []);
  assert.deepEqual(filters?.[0]?.grpc_web, {});
});
