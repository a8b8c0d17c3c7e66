import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuntimeValues } from '../../../../src/plan/runtime/runtime.js';

test('numbers count without what follows the point, as far as 64 bits hold them', () => {
  const layer = { a: 100.9, b: '100.9', c: 0.99, d: 1e20, e: -1, f: '7x', g: '1e2' };
  const values = RuntimeValues.fromLayers([layer]);
  const numbers = Object.keys(layer).map((key) => values.number(key, 5));
  assert.deepEqual(numbers, [100, 100, 0, 5, 5, 5, 100]);
});
