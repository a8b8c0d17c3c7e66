import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonicMs } from '../../../src/base/clock.js';

test('the monotonic clock never goes back', () => {
  const readings = Array.from({ length: 1000 }, () => monotonicMs());
  assert.deepEqual(
    readings,
    readings.toSorted((a, b) => a - b),
  );
});
