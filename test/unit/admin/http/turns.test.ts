import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBug } from '../../../../src/base/bugs.js';
import { Turns, work } from '../../../../src/admin/http/turns.js';

const nextImmediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function spend(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('steps run in their order, and what takes long leaves the others for later turns', async () => {
  const ran: number[] = [];
  for (let i = 0; i < 4; ++i) {
    work(() => {
      spend(9);
      ran.push(i);
      return false;
    });
  }
  while (ran.length === 0) await nextImmediate();
  assert.deepEqual(ran, [0]);
  while (ran.length < 4) await nextImmediate();
  assert.deepEqual(ran, [0, 1, 2, 3]);
});

test('a job that goes on does not keep the others waiting', async () => {
  const ran: string[] = [];
  let left = 3;
  work(() => {
    ran.push('long');
    return --left > 0;
  });
  work(() => {
    ran.push('short');
    return false;
  });
  while (left > 0) await nextImmediate();
  assert.deepEqual(ran, ['long', 'short', 'long', 'long']);
});

test('a job that rests goes on when it is given again', async () => {
  let steps = 0;
  const step = (): boolean => ++steps % 2 === 1;
  work(step);
  while (steps < 2) await nextImmediate();
  work(step);
  while (steps < 4) await nextImmediate();
  await nextImmediate();
  assert.equal(steps, 4);
});

test('of many jobs some wait until one is over, and all come to their end', async () => {
  const started = new Set<number>();
  let over = 0;
  let isHeld = true;
  for (let i = 0; i < 100; ++i) {
    work(() => {
      started.add(i);
      if (isHeld) return true;
      over++;
      return false;
    });
  }
  while (started.size < 32) await nextImmediate();
  for (let i = 0; i < 10; ++i) await nextImmediate();
  assert.equal(started.size, 32);
  isHeld = false;
  while (over < 100) await nextImmediate();
  assert.equal(started.size, 100);
});

test('while workers wait a job has one step of a turn, also one that waits for its reader in between', async () => {
  for (const goesOn of [true, false]) {
    const turns = new Turns({ areWaiting: () => true });
    // A turn asks when it is over.
    turns.work(() => false);
    await nextImmediate();
    await nextImmediate();
    const ranMs: number[] = [];
    await new Promise<void>((resolve) => {
      const step = (): boolean => {
        ranMs.push(performance.now());
        if (ranMs.length === 6) resolve();
        else if (!goesOn) setImmediate(() => turns.work(step));
        return goesOn && ranMs.length < 6;
      };
      turns.work(step);
    });
    const pauses = ranMs.slice(1).map((ms, index) => ms - (ranMs[index] ?? 0));
    assert.ok(Math.min(...pauses) > 1, `pauses of ${pauses.join(', ')} ms`);
  }
});

test('a job that throws is over, the bug is told, and the others go on', async (t) => {
  const bugs: unknown[] = [];
  t.after(onBug((_, thrown) => bugs.push(thrown)));
  const lost = new Error('lost');
  const turns = new Turns({
    areWaiting: () => {
      throw lost;
    },
  });
  let steps = 0;
  turns.work(() => {
    throw lost;
  });
  await new Promise<void>((resolve) => {
    turns.work(() => {
      if (++steps === 3) resolve();
      return steps < 3;
    });
  });

  assert.equal(bugs[0], lost);
  assert.equal(steps, 3);
});
