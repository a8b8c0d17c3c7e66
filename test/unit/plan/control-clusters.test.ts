import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ControlClusters } from '../../../src/plan/control-clusters.js';
import { grpcCluster } from '../../../src/plan/service-plan.js';

function played() {
  const clusters = new ControlClusters();
  const told: string[] = [];
  const stop = clusters.watch('one', () => told.push(clusters.get('one')?.name ?? 'none'));
  return { clusters, told, stop };
}

const planOf = (name: string) => grpcCluster({ name, connect_timeout_ms: 1000 }, {});

test('a cluster that is to come is asked once it is in its place, and known before', () => {
  const { clusters, told, stop } = played();
  clusters.set('one', planOf('first'));
  clusters.expect('one', planOf('second'));
  assert.equal(clusters.get('one')?.name, 'first');
  assert.equal(clusters.known('one')?.name, 'second');
  assert.deepEqual(told, []);
  clusters.replaced('one');
  assert.equal(clusters.get('one')?.name, 'second');
  clusters.replaced('one');
  assert.deepEqual(told, ['second']);
  stop();
  clusters.expect('one', planOf('third'));
  clusters.replaced('one');
  assert.deepEqual(told, ['second']);
});

test('one that goes while it waits leaves nothing, and nobody is told who never had it', () => {
  const { clusters, told } = played();
  clusters.expect('one', planOf('first'));
  assert.equal(clusters.has('one'), true);
  assert.equal(clusters.get('one'), undefined);
  clusters.delete('one');
  assert.equal(clusters.has('one'), false);
  clusters.replaced('one');
  assert.equal(clusters.get('one'), undefined);
  assert.deepEqual(told, []);
  clusters.set('one', planOf('second'));
  clusters.delete('one');
  assert.deepEqual(told, ['none']);
});
