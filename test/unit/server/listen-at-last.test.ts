import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listenAtLast } from '../../../src/server/listen-at-last.js';

/** Refused so many times. */
function refused(times: number): { listen(): Promise<void>; readonly asked: number } {
  let asked = 0;
  return {
    listen: () => (++asked > times ? Promise.resolve() : Promise.reject(new Error('taken'))),
    get asked() {
      return asked;
    },
  };
}

test('an address that is held for a moment is asked for again, until there is no time left', async () => {
  const soon = refused(2);
  await listenAtLast(() => soon.listen(), 10_000);
  assert.equal(soon.asked, 3);
  const never = refused(Infinity);
  await assert.rejects(
    listenAtLast(() => never.listen(), 30),
    /taken/,
  );
  assert.ok(never.asked > 1);
});

test('whoever has lost nobody asks once', async () => {
  const taken = refused(1);
  await assert.rejects(
    listenAtLast(() => taken.listen(), 0),
    /taken/,
  );
  assert.equal(taken.asked, 1);
});
