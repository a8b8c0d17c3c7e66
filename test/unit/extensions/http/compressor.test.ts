import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TYPE = 'envoy.extensions.filters.http.compressor.v3.Compressor';
const PER_ROUTE = 'envoy.extensions.filters.http.compressor.v3.CompressorPerRoute';
const library = (name: string, coding: string, message: string, fields: object = {}) => ({
  name,
  typed_config: any(`envoy.extensions.compression.${coding}.compressor.v3.${message}`, fields),
});
const GZIP = library('gz', 'gzip', 'Gzip');
const filter = (fields: object) => ({ name: 'c', typed_config: any(TYPE, fields) });

test('a compressor has the real server’s defaults, and no word of requests', () => {
  const { issues, filters } = compiled([filter({ compressor_library: GZIP })]);
  assert.deepEqual(issues, []);
  const own = filters?.[0]?.compressor;
  assert.equal(own?.library, 'gz');
  assert.equal(own?.request, undefined);
  assert.equal(own?.names_response, false);
  assert.equal(own?.response?.min_content_length, 30);
  assert.equal(own?.response?.content_types?.length, 20);
  assert.deepEqual(own?.response?.enabled, { value: 1, slot: 0 });
  assert.deepEqual(own?.encoder, {
    coding: 0,
    level: 4,
    strategy: 0,
    window_bits: 12,
    memory_level: 5,
    chunk_bytes: 4096,
  });
});

test('what is said of answers takes the place of the older fields', () => {
  const old = { content_length: 5, content_type: ['A/B'], disable_on_etag_header: true };
  const { filters } = compiled([
    filter({ compressor_library: GZIP, ...old }),
    filter({ compressor_library: GZIP, ...old, response_direction_config: {} }),
  ]);
  const [older, newer] = (filters ?? []).map(({ compressor }) => compressor);
  assert.equal(older?.response?.min_content_length, 5);
  assert.equal(older?.response?.content_types?.[0]?.value, 'a/b');
  assert.equal(older?.disable_on_etag, true);
  assert.equal(newer?.response?.min_content_length, 30);
  assert.equal(newer?.disable_on_etag, undefined);
  assert.equal(newer?.names_response, true);
});

test('matchers of content types take the place of their names', () => {
  const common_config = { content_type: ['a/b'], content_type_matcher: [{ suffix: '+json' }] };
  const { filters } = compiled([
    filter({ compressor_library: GZIP, response_direction_config: { common_config } }),
  ]);
  const types = filters?.[0]?.compressor?.response?.content_types;
  assert.deepEqual(
    types?.map(({ value }) => value),
    ['+json'],
  );
});

test('a route switches a compressor off, or says that it is on, with a coding of its own', () => {
  const overrides = {
    response_direction_config: { remove_accept_encoding_header: false },
    compressor_library: library('br', 'brotli', 'Brotli', { quality: 11, encoder_mode: 'FONT' }),
  };
  const { issues, configs } = compiled(
    [filter({ compressor_library: GZIP }), { ...filter({ compressor_library: GZIP }), name: 'd' }],
    { route: { c: any(PER_ROUTE, { disabled: true }), d: any(PER_ROUTE, { overrides }) } },
  );
  assert.deepEqual(issues, []);
  assert.deepEqual(configs?.[0]?.compressor, { response_enabled: false });
  const own = configs?.[1]?.compressor;
  assert.equal(own?.response_enabled, true);
  assert.equal(own?.remove_accept_encoding, false);
  assert.deepEqual([own?.encoder?.coding, own?.encoder?.level, own?.encoder?.mode], [1, 11, 2]);
});

test('a library that nobody has is refused by its name', () => {
  const odd = { name: 'x', typed_config: any(TYPE, { compressor_library: GZIP }) };
  const { issues } = compiled([filter({ compressor_library: odd })]);
  assert.match(issues.join('\n'), /Didn't find a registered implementation for 'x'/);
});
