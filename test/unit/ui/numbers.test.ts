import assert from 'node:assert/strict';
import { test } from 'node:test';
import { count, milliseconds, share } from '../../../src/ui/numbers.js';

test('a share is never more than all, is 0 of nothing, and unknown where its parts are', () => {
  assert.equal(share(1, 4), 0.25);
  assert.equal(share(17, 16), 1);
  assert.equal(share(0, 0), 0);
  assert.equal(share(undefined, 3), undefined);
  assert.equal(share(3, undefined), undefined);
});

test('one thing is not several', () => {
  assert.deepEqual(
    [0, 1, 2000].map((number) => count(number, 'host')),
    ['0 hosts', '1 host', '2,000 hosts'],
  );
});

test('a time below what histograms tell apart is not called none', () => {
  assert.deepEqual([0, 0.5, 3.4, 1200].map(milliseconds), ['< 1 ms', '< 1 ms', '3.4 ms', '1.20 s']);
});
