import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOverrides } from '../../../src/runtime/fault-overrides.js';
import { structEntries } from '../../../src/runtime/layer.js';

function overridesOf(struct: Readonly<Record<string, unknown>>): object[] {
  const layers = [{ name: 'layer', entries: structEntries(struct) }];
  return [...faultOverrides({ layers, diskLayerCount: 0, faults: [] }).values()];
}

test('numbers are read by downstream cluster, whose name may hold dots', () => {
  const struct = {
    'fault.http.a.abort.b.abort.abort_percent': 25,
    'fault.http.a.abort.b.abort.http_status': 404,
    'fault.http.c.delay.fixed_delay_percent': { numerator: 3, denominator: 'TEN_THOUSAND' },
    'fault.http.c.delay.fixed_duration_ms': 50,
    'fault.http.c.abort.grpc_status': 5,
  };
  assert.deepEqual(overridesOf(struct), [
    { cluster: 'a.abort.b', abort_share: 250_000, http_status: 404 },
    { cluster: 'c', delay_share: 300, delay_ms: 50, grpc_status: 5 },
  ]);
});

test('keys of all clusters, of none, and without a number name nobody', () => {
  const struct = {
    'fault.http.abort.abort_percent': 25,
    'fault.http.max_active_faults': 1,
    'fault.http.a.abort.abort_percent': 'much',
    'fault.http.a.abort.http_status': -1,
  };
  assert.deepEqual(overridesOf(struct), []);
});
