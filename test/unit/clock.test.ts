import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonicMs, wallClockMs } from '../../src/clock.js';

test('the wall clock agrees with the system, in fractions of a millisecond', () => {
  const readings = Array.from({ length: 100 }, () => wallClockMs());
  assert.ok(Math.abs(wallClockMs() - Date.now()) < 5);
  assert.ok(readings.some((reading) => !Number.isInteger(reading)));
});

test('the wall clock follows when the system’s clock is set', (t) => {
  const now = Date.now();
  t.mock.method(Date, 'now', () => now + 3_600_000);
  assert.ok(Math.abs(wallClockMs() - (now + 3_600_000)) < 1_000);
  t.mock.restoreAll();
  assert.ok(Math.abs(wallClockMs() - Date.now()) < 5);
});

test('the monotonic clock never goes back', () => {
  const readings = Array.from({ length: 1000 }, () => monotonicMs());
  assert.deepEqual(
    readings,
    readings.toSorted((a, b) => a - b),
  );
});
