import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TYPE = 'envoy.extensions.filters.http.grpc_http1_reverse_bridge.v3';
const filter = (fields: object) => ({
  name: 'r',
  typed_config: any(`${TYPE}.FilterConfig`, { content_type: 'application/x-protobuf', ...fields }),
});

test('grpc_http1_reverse_bridge is switched off by routes', () => {
  const { issues, filters, configs } = compiled([filter({ withhold_grpc_frames: true })], {
    route: { r: any(`${TYPE}.FilterConfigPerRoute`, { disabled: true }) },
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(filters?.[0]?.grpc_http1_reverse_bridge, {
    content_type: 'application/x-protobuf',
    withholds_frames: true,
  });
  assert.deepEqual(configs, [{ grpc_http1_reverse_bridge: { disabled: true } }]);
});

test('answers whose length a header says are refused by name', () => {
  const { issues } = compiled([filter({ response_size_header: 'x-size' })]);
  assert.match(issues.join('\n'), /response_size_header of/);
});
