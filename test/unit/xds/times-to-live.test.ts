import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { RawResource } from '../../../src/xds/discovery-wire.js';
import { TimesToLive } from '../../../src/xds/times-to-live.js';

const raw = (ttlMs: number | undefined, isHeartbeat = false): RawResource => ({
  ...{ name: 'one', version: '', url: '', bytes: Buffer.alloc(0), isHeartbeat },
  ...(ttlMs !== undefined && { ttlMs }),
});

test('a resource is over when its time is, unless a heartbeat begins it anew', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const pass = (ms: number): void => {
    nowMs += ms;
    mock.timers.tick(ms);
  };
  const over: string[] = [];
  const times = new TimesToLive((names) => over.push(...names));
  times.take(raw(100), 'one');
  pass(60);
  times.take(raw(100, true), 'one');
  pass(60);
  assert.deepEqual(over, []);
  pass(60);
  assert.deepEqual(over, ['one']);
});

test('an update or heartbeat without a time stays, and one of what is not there begins nothing', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const over: string[] = [];
  const times = new TimesToLive((names) => over.push(...names));
  times.take(raw(100), 'one');
  times.take(raw(undefined), 'one');
  times.take(raw(100, true), 'two');
  times.take(raw(100), 'three');
  times.take(raw(undefined, true), 'three');
  nowMs = 500;
  mock.timers.tick(500);
  assert.deepEqual(over, []);
});

test('a hundred thousand and more resources have their times', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  let over = 0;
  const times = new TimesToLive((names) => (over += names.length));
  const count = 150_000;
  for (let i = 0; i < count; i++) times.take(raw(100 + (i % 2) * 100), String(i));
  nowMs = 100;
  mock.timers.tick(100);
  assert.equal(over, count / 2);
  nowMs = 200;
  mock.timers.tick(100);
  assert.equal(over, count);
});
