import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { guarded, onBug, reportBug, unawaited } from '../../../src/base/bugs.js';
import { startImmediate, startInterval, startTimeout } from '../../../src/base/timers.js';

const BUG = new Error('lost');
const fail = (): never => {
  throw BUG;
};

/** What is told until the story ends. */
function listen(t: TestContext): { told: string[]; next: () => Promise<void> } {
  const told: string[] = [];
  let resolve = (): void => undefined;
  t.after(
    onBug((where, thrown) => {
      assert.equal(thrown, BUG);
      told.push(where);
      resolve();
    }),
  );
  return { told, next: () => new Promise((done) => (resolve = done)) };
}

test('what is thrown where the world calls in is told with its place, and goes no further', (t) => {
  const { told } = listen(t);
  guarded('here', fail)();
  reportBug('there', BUG);

  assert.deepEqual(told, ['here', 'there']);
});

test('arguments pass, and what follows a bug is done only then', (t) => {
  const { told } = listen(t);
  const done: string[] = [];
  const act = guarded(
    'a place',
    (text: string) => (text === '' ? fail() : done.push(text)),
    () => done.push('recovered'),
  );
  act('well');
  act('');

  assert.deepEqual([done, told], [['well', 'recovered'], ['a place']]);
});

test('a recovery that fails too is told as well', (t) => {
  const { told } = listen(t);
  guarded('a place', fail, fail)();

  assert.deepEqual(told, ['a place', 'a place']);
});

test('timers and work that nobody waits for tell of their bugs; an interval goes on', async (t) => {
  const { told, next } = listen(t);
  startTimeout(fail, 0);
  await next();
  startImmediate(fail);
  await next();
  unawaited('some work', Promise.reject(BUG));
  await next();
  const interval = startInterval(fail, 1);
  await next();
  await next();
  clearInterval(interval);

  assert.deepEqual(told.slice(0, 4), ['a timer', 'a turn of the loop', 'some work', 'a timer']);
});

test('where nobody listens a bug is thrown on', () => {
  assert.throws(() => guarded('here', fail)(), BUG);
});
