import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterStats } from '../../../src/grpc/cluster-stats.js';
import { Retries } from '../../../src/grpc/retries.js';
import { FakeNative } from '../support/fake-native.js';

function retries(on: readonly string[], count = 1) {
  const counts = new Map<string, number>();
  const stats = new ClusterStats('c', new FakeNative(), {
    count: (name) => counts.set(name, (counts.get(name) ?? 0) + 1),
    setGauge: () => undefined,
    record: () => undefined,
  });
  return { counts, tries: new Retries({ on: new Set(on), count, baseMs: 10, maxMs: 50 }, stats) };
}

test('a stream is opened anew for what the policy names, and so often', () => {
  const { tries, counts } = retries(['connect-failure'], 2);
  assert.equal(tries.next('reset'), undefined);
  assert.ok((tries.next('connect') ?? -1) >= 0);
  assert.ok((tries.next('connect') ?? 99) <= 30);
  assert.equal(tries.next('connect'), undefined);
  assert.deepEqual(
    [...counts],
    [
      ['cluster.c.upstream_rq_retry', 2],
      ['cluster.c.upstream_rq_retry_backoff_exponential', 2],
      ['cluster.c.upstream_rq_retry_limit_exceeded', 1],
    ],
  );
});

test('answers are judged by their gRPC status, those of others by their HTTP status', () => {
  const unavailable = { code: 'UNAVAILABLE', message: '' } as const;
  assert.ok(retries(['unavailable']).tries.nextAfter(unavailable, 200) !== undefined);
  assert.equal(retries(['unavailable']).tries.nextAfter(unavailable, 503), undefined);
  assert.ok(retries(['gateway-error']).tries.nextAfter(unavailable, 503) !== undefined);
  assert.equal(retries(['gateway-error']).tries.nextAfter(unavailable, 500), undefined);
  assert.ok(retries(['5xx']).tries.nextAfter(unavailable, 500) !== undefined);
  assert.equal(retries(['5xx', 'reset']).tries.nextAfter(undefined, 200), undefined);
});
