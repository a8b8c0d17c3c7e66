import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextTurn } from '../../../src/admin/turns.js';

const nextImmediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function spend(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('steps run in their order, and what takes long leaves the others for later turns', async () => {
  const ran: number[] = [];
  for (let i = 0; i < 4; ++i) {
    nextTurn(() => {
      spend(9);
      ran.push(i);
    });
  }
  await nextImmediate();
  assert.deepEqual(ran, [0]);
  while (ran.length < 4) await nextImmediate();
  assert.deepEqual(ran, [0, 1, 2, 3]);
});

test('a step that goes on does not keep the others waiting', async () => {
  const ran: string[] = [];
  let left = 3;
  const again = (): void => {
    ran.push('long');
    if (--left > 0) nextTurn(again);
  };
  nextTurn(again);
  nextTurn(() => ran.push('short'));
  while (left > 0) await nextImmediate();
  assert.deepEqual(ran, ['long', 'short', 'long', 'long']);
});
