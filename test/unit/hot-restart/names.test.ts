import assert from 'node:assert/strict';
import { test } from 'node:test';
import { regionName, socketName } from '../../../src/hot-restart/names.js';

test('names are those of the real server: base ids lie ten apart, in 32 bits', () => {
  assert.equal(regionName(42), '/fairlead_shared_memory_420');
  assert.equal(regionName(4_294_967_295), '/fairlead_shared_memory_4294967286');
  assert.equal(socketName('@domain', 'parent', 7, 0), '@domain_parent_70');
  assert.equal(socketName('@domain', 'child', 7, 9), '@domain_child_79');
});

test('no two epochs have the same name, of one base id or of neighbours', () => {
  const names = [1, 2, 11].flatMap((baseId) =>
    Array.from({ length: 200 }, (_, epoch) => socketName('/run/a', 'parent', baseId, epoch)),
  );
  assert.equal(new Set(names).size, names.length);
});
