import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApplyError } from '../../../src/native.js';
import { AssignmentBatch } from '../../../src/xds/assignment-batch.js';

/** How many bytes went each time; refuses every assignment of the cluster "bad". */
class FakeNative {
  readonly journeys: number[] = [];

  apply(update: Uint8Array): readonly ApplyError[] {
    this.journeys.push(update.length);
    const isBad = Buffer.from(update).includes('bad');
    return isBad ? [{ kind: 'assignment', name: 'bad', message: 'is bad' }] : [];
  }
}

const hosts = (cluster: string) => ({ cluster_name: cluster, hosts: [] });

test('what comes in one turn goes together, and each hears what is wrong with its own', async () => {
  const native = new FakeNative();
  const batch = new AssignmentBatch(native);
  const answers = ['a', 'bad', 'b'].map((name) => batch.put(hosts(name)));
  assert.deepEqual(native.journeys, []);
  assert.deepEqual(await Promise.all(answers), [undefined, 'is bad', undefined]);
  assert.equal(native.journeys.length, 1);
  assert.equal(await batch.put(hosts('c')), undefined);
  assert.equal(native.journeys.length, 2);
});

test('of one cluster one follows the other; of many there are several journeys', async () => {
  const native = new FakeNative();
  const batch = new AssignmentBatch(native);
  await Promise.all([batch.put(hosts('a')), batch.put(hosts('a'))]);
  assert.equal(native.journeys.length, 2);
  await Promise.all(Array.from({ length: 250 }, (_, index) => batch.put(hosts(`c${index}`))));
  assert.equal(native.journeys.length, 5);
});
