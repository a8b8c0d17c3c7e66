import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_WAITING_BYTES, Waiting } from '../../../../src/admin/http/backlog.js';

test('what waits on all connections together has a limit, and whoever passes it is to go', () => {
  const [first, second, third] = [new Waiting(), new Waiting(), new Waiting()];
  assert.ok(first.set(MAX_WAITING_BYTES - 10));
  assert.ok(second.set(10));
  assert.equal(third.set(1), false);
  third.set(0);

  assert.ok(second.set(5), 'less than before');
  assert.ok(third.set(5));
  first.set(0);
  assert.ok(second.set(MAX_WAITING_BYTES - 5));
  for (const waiting of [second, third]) waiting.set(0);
});

test('a connection on which nothing waits is never too much', () => {
  const full = new Waiting();
  assert.equal(full.set(MAX_WAITING_BYTES + 1), false);
  assert.ok(new Waiting().set(0));
  full.set(0);
});
