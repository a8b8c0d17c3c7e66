import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlaceBatch } from '../../../src/xds/place-batch.js';

function batchOf(journeys: (readonly string[])[], placed: string[] = []): PlaceBatch {
  return new PlaceBatch(
    {
      endWaits: (clusters) => {
        journeys.push(clusters);
        placed.push('there');
      },
    },
    (name) => placed.push(name),
  );
}

test('clusters that come to have what they need in one turn take their places together', async () => {
  const journeys: (readonly string[])[] = [];
  const batch = batchOf(journeys);
  for (const name of ['a', 'b']) batch.add(name);
  assert.deepEqual(journeys, []);
  // What is asked for afterwards finds them there.
  await Promise.resolve();
  assert.deepEqual(journeys, [['a', 'b']]);
  batch.add('c');
  await Promise.resolve();
  assert.deepEqual(journeys, [['a', 'b'], ['c']]);
});

test('before another of their names comes they are in their places, and once', async () => {
  const journeys: (readonly string[])[] = [];
  const batch = batchOf(journeys);
  batch.add('a');
  batch.flush();
  assert.deepEqual(journeys, [['a']]);
  batch.flush();
  await Promise.resolve();
  assert.deepEqual(journeys, [['a']]);
});

test('the control plane goes by a cluster no sooner than the data plane', async () => {
  const placed: string[] = [];
  const batch = batchOf([], placed);
  for (const name of ['a', 'b']) batch.add(name);
  assert.deepEqual(placed, []);
  await Promise.resolve();
  assert.deepEqual(placed, ['there', 'a', 'b']);
});
