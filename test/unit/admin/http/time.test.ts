import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Allowance, hasTime } from '../../../../src/admin/http/time.js';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function spend(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('requests are answered at once until they have taken some milliseconds of a turn', async () => {
  await nextTurn();
  assert.equal(hasTime(), true);
  spend(20);
  assert.equal(hasTime(), false);
  await nextTurn();

  assert.equal(hasTime(), true);
});

test('sixteen of one connection are answered at once in any case, in every turn', async () => {
  await nextTurn();
  const allowance = new Allowance();
  for (let turn = 0; turn < 2; turn += 1) {
    hasTime();
    spend(20);
    const taken = Array.from({ length: 20 }, () => allowance.take());
    assert.equal(taken.filter(Boolean).length, 16);
    await nextTurn();
  }
});
