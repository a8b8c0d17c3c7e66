import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TYPE = 'envoy.extensions.filters.http.buffer.v3';
const FILTER = { name: 'b', typed_config: any(`${TYPE}.Buffer`, { max_request_bytes: 10 }) };
const byRoute = (fields: object) => {
  const { issues, configs } = compiled([FILTER], {
    route: { b: any(`${TYPE}.BufferPerRoute`, fields) },
  });
  assert.deepEqual(issues, []);
  return configs;
};

test('the limit is the chain’s, the route’s, or there is none', () => {
  assert.deepEqual(compiled([FILTER]).filters?.[0]?.buffer, { max_request_bytes: 10 });
  assert.deepEqual(byRoute({ buffer: { max_request_bytes: 20 } }), [
    { buffer: { max_request_bytes: 20 } },
  ]);
  assert.deepEqual(byRoute({ disabled: true }), [{ buffer: { disabled: true } }]);
});
