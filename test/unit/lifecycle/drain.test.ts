import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Drain } from '../../../src/lifecycle/drain.js';
import { FakeNative } from '../support/fake-native.js';

function drainOf(t: TestContext, seconds: number): { native: FakeNative; drain: Drain } {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const native = new FakeNative();
  return { native, drain: new Drain(native, { seconds, strategy: 'gradual' }) };
}

test('a drain begins at once, and tells when its time is over', (t) => {
  const { native, drain } = drainOf(t, 10);
  drain.start('all', () => native.calls.push('over'));
  t.mock.timers.tick(9_999);
  assert.deepEqual(native.calls, ['startDrain all 10 gradual']);
  t.mock.timers.tick(1);

  assert.deepEqual(native.calls, ['startDrain all 10 gradual', 'over']);
});

test('nothing happens where a drain covers the scope already', (t) => {
  const { native, drain } = drainOf(t, 10);
  drain.start('all');
  drain.start('all', () => native.calls.push('again'));
  drain.start('inbound', () => native.calls.push('inbound'));
  t.mock.timers.tick(100_000);
  drain.start('all', () => native.calls.push('later'));
  t.mock.timers.tick(100_000);

  assert.deepEqual(native.calls, ['startDrain all 10 gradual']);
});

test('a wider drain ends with the one that is under way', (t) => {
  const { native, drain } = drainOf(t, 10);
  drain.start('inbound', () => drain.stopListening('inbound'));
  t.mock.timers.tick(6_000);
  drain.start('all', () => drain.stopListening('all'));
  t.mock.timers.tick(4_000);

  assert.deepEqual(native.calls, [
    'startDrain inbound 10 gradual',
    'startDrain all 10 gradual',
    'stopListening inbound',
    'stopListening all',
  ]);
});

test('a wider drain after the end of a first one has its whole time', (t) => {
  const { native, drain } = drainOf(t, 10);
  drain.start('inbound');
  t.mock.timers.tick(10_000);
  drain.start('all', () => native.calls.push('over'));
  t.mock.timers.tick(9_999);
  assert.equal(native.calls.at(-1), 'startDrain all 10 gradual');
  t.mock.timers.tick(1);

  assert.equal(native.calls.at(-1), 'over');
});

test('a wider drain during one at whose end nothing is done has its whole time', (t) => {
  const { native, drain } = drainOf(t, 10);
  drain.start('inbound');
  t.mock.timers.tick(6_000);
  drain.start('all', () => native.calls.push('over'));
  t.mock.timers.tick(9_999);
  assert.equal(native.calls.at(-1), 'startDrain all 10 gradual');
  t.mock.timers.tick(1);

  assert.equal(native.calls.at(-1), 'over');
});

test('a drain time longer than the longest timer does not end at once', (t) => {
  const { native, drain } = drainOf(t, 0xffff_ffff);
  drain.start('all', () => native.calls.push('over'));
  t.mock.timers.tick(1_000_000);

  assert.deepEqual(native.calls, ['startDrain all 4294967295 gradual']);
});

test('a drain that is disposed of tells nobody of its end', (t) => {
  const { native, drain } = drainOf(t, 1);
  drain.start('all', () => native.calls.push('over'));
  drain.dispose();
  t.mock.timers.tick(2_000);

  assert.deepEqual(native.calls, ['startDrain all 1 gradual']);
});
