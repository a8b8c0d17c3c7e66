import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuntimeReads } from '../../../../src/plan/runtime/runtime-reads.js';
import { RuntimeValues } from '../../../../src/plan/runtime/runtime.js';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TYPE = 'envoy.extensions.filters.http.fault.v3.HTTPFault';
const faultOf = (fields: object) => {
  const { issues, filters } = compiled([{ name: 'f', typed_config: any(TYPE, fields) }]);
  assert.deepEqual(issues, []);
  return filters?.[0]?.fault;
};
const HALF = { numerator: 5000, denominator: 'TEN_THOUSAND' };

test('a delay is the configuration’s or a header’s', () => {
  assert.equal(faultOf({ delay: { fixed_delay: 200.9, percentage: HALF } })?.delay?.fixed_ms, 200);
  const delay = faultOf({ delay: { header_delay: {}, percentage: HALF } })?.delay;
  assert.equal(delay?.fixed_ms, undefined);
  assert.equal(delay?.share?.numerator, 5000);
  assert.equal(delay?.share?.unit_millionths, 100);
});

test('a delay below a millisecond is none, and no wish for a header’s', () => {
  assert.equal(faultOf({ delay: { fixed_delay: 0.9 } })?.delay?.fixed_ms, 0);
});

test('an abort says neither status where a header does', () => {
  const abort = faultOf({ abort: { header_abort: {}, percentage: HALF } })?.abort;
  assert.equal(abort?.http_status, undefined);
  assert.equal(abort?.grpc_status, undefined);
  assert.equal(faultOf({ abort: { grpc_status: 0 } })?.abort?.grpc_status, 0);
  assert.equal(faultOf({ abort: { response_body: 'own' } })?.abort?.body, 'own');
});

test('a key without a value leaves the number alone, and takes its place once it has one', () => {
  const reads = new RuntimeReads(new RuntimeValues());
  const { slot } = reads.liveShareOrUnset('a', Number.MAX_SAFE_INTEGER);
  const valueWith = (values: Map<string, unknown>) =>
    reads.slotValues(new RuntimeValues(values))[slot - 1];
  assert.equal(valueWith(new Map()), Number.MAX_SAFE_INTEGER);
  assert.equal(valueWith(new Map([['a', 25]])), 250_000);
});

test('metadata for the log is found by its paths, and as a whole', () => {
  const metadata = faultOf({ filter_metadata: { why: 'tried', b: { n: 1, a: [null] } } })?.metadata;
  assert.deepEqual(metadata, [
    { path: '', text: '{"b":{"a":[null],"n":1},"why":"tried"}', is_json: true },
    { path: 'why', text: 'tried', is_json: false },
    { path: 'b', text: '{"a":[null],"n":1}', is_json: true },
    { path: 'b\0n', text: '1', is_json: true },
    { path: 'b\0a', text: '[null]', is_json: true },
  ]);
});

test('metadata that nobody says is an empty object', () => {
  assert.deepEqual(faultOf({})?.metadata, [{ path: '', text: '{}', is_json: true }]);
});
