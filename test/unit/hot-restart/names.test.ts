import assert from 'node:assert/strict';
import { test } from 'node:test';
import { socketName } from '../../../src/hot-restart/names.js';

test('the first epochs have the names of the real server', () => {
  assert.equal(socketName('@domain', 'parent', 7, 0), '@domain_parent_70');
  assert.equal(socketName('@domain', 'child', 7, 9), '@domain_child_79');
});

test('no two epochs have the same name, of one base id or of neighbours', () => {
  const names = [1, 2, 11].flatMap((baseId) =>
    Array.from({ length: 200 }, (_, epoch) => socketName('/run/a', 'parent', baseId, epoch)),
  );
  assert.equal(new Set(names).size, names.length);
});
