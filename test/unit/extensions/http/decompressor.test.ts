import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TYPE = 'envoy.extensions.filters.http.decompressor.v3.Decompressor';
const library = (coding: string, message: string, fields: object = {}) => ({
  name: 'l',
  typed_config: any(`envoy.extensions.compression.${coding}.decompressor.v3.${message}`, fields),
});
const filter = (fields: object) => ({ name: 'd', typed_config: any(TYPE, fields) });

test('a decompressor is on both ways, tells hosts, and bounds what comes out', () => {
  const { issues, filters } = compiled([
    filter({ decompressor_library: library('gzip', 'Gzip') }),
    filter({ decompressor_library: library('gzip', 'Gzip', { max_inflate_ratio: 7 }) }),
  ]);
  assert.deepEqual(issues, []);
  const [plain, narrow] = (filters ?? []).map(({ decompressor }) => decompressor);
  assert.equal(plain?.advertises, true);
  assert.deepEqual(plain?.request?.enabled, { value: 1, slot: 0 });
  assert.deepEqual([plain?.decoder?.window_bits, plain?.decoder?.max_ratio], [15, 100]);
  assert.equal(narrow?.decoder?.max_ratio, 7);
});

test('each direction is switched by itself', () => {
  const off = { common_config: { enabled: { default_value: false, runtime_key: 'k' } } };
  const { filters } = compiled([
    filter({
      decompressor_library: library('brotli', 'Brotli', { disable_ring_buffer_reallocation: true }),
      request_direction_config: { ...off, advertise_accept_encoding: false },
      response_direction_config: { common_config: { ignore_no_transform_header: true } },
    }),
  ]);
  const own = filters?.[0]?.decompressor;
  assert.equal(own?.advertises, false);
  assert.equal(own?.request?.enabled?.value, 0);
  assert.equal(own?.response?.ignores_no_transform, true);
  assert.equal(own?.decoder?.keeps_ring_buffer, true);
});
