import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startInterval, startTimeout } from '../../../src/base/timers.js';

const MONTH_MS = 31 * 86_400_000;

for (const [what, start] of [
  ['timeout', startTimeout],
  ['interval', startInterval],
] as const) {
  for (const ms of [MONTH_MS, Infinity]) {
    test(`${what} of ${ms} ms has not run when a later one of a millisecond has`, async (t) => {
      let runs = 0;
      const long = start(() => runs++, ms);
      t.after(() => clearTimeout(long));
      await new Promise<void>((resolve) => startTimeout(resolve, 1));

      assert.equal(runs, 0);
    });
  }
}
