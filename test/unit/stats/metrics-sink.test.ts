import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBatches } from '../../../src/stats/metrics-sink.js';

/** A record of field 2 with so many bytes. */
function record(length: number): Buffer {
  const head = length < 0x80 ? [0x12, length] : [0x12, (length & 0x7f) | 0x80, length >> 7];
  return Buffer.concat([Buffer.from(head), Buffer.alloc(length, 'x')]);
}

test('a batch has so many metrics and no more, whatever their length', () => {
  const records = [record(3), record(200), record(0), record(5), record(1)];
  const batches = [...inBatches(Buffer.concat(records), 2)];

  assert.deepEqual(
    batches.map((batch) => batch.length),
    [5 + 203, 2 + 7, 3],
  );
  assert.deepEqual(Buffer.concat(batches), Buffer.concat(records));
});

test('without a size all is one batch, and nothing is none', () => {
  const records = Buffer.concat([record(3), record(4)]);

  assert.deepEqual([...inBatches(records, 0)], [records]);
  assert.deepEqual([...inBatches(Buffer.alloc(0), 0)], []);
  assert.deepEqual([...inBatches(Buffer.alloc(0), 5)], []);
});
