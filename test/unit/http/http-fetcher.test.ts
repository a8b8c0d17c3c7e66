import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { ClusterNative } from '../../../src/grpc/cluster-stats.js';
import { HttpFetcher } from '../../../src/http/http-fetcher.js';
import { ControlClusters } from '../../../src/plan/control-clusters.js';
import { grpcCluster } from '../../../src/plan/service-plan.js';

/** A host that answers with these, the last of them for good (0: not at all), and who asks it. */
async function start(t: TestContext, statuses: readonly number[], retries: number, tryMs?: number) {
  const waiting = [...statuses];
  const server = createServer((_, response) => {
    const status = (waiting.length > 1 ? waiting.shift() : waiting[0]) ?? 200;
    if (status === 0) return;
    response.statusCode = status;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answers: number[] = [];
  const again: number[] = [];
  const counts: Record<string, number> = {};
  const native = {
    chooseHost: () => ({ address: '127.0.0.1', port, hostname: '' }),
    hostAdd: () => undefined,
    takeBudget: () => true,
    returnBudget: () => undefined,
    countRetried: (_: string, status: number) => again.push(status),
    countAnswer: (_: string, status: number) => answers.push(status),
    recordAnswerTime: () => undefined,
    clusterPrefix: () => '',
  } as unknown as ClusterNative;
  const fetcher = new HttpFetcher(native, {
    count: (name, amount = 1) => (counts[name] = (counts[name] ?? 0) + amount),
    setGauge: () => undefined,
    record: () => undefined,
  });
  t.after(() => {
    fetcher.close();
    server.close();
  });
  const clusters = new ControlClusters();
  clusters.set('keys', grpcCluster({ name: 'keys', connect_timeout_ms: 1000 }, {}));
  const source = {
    ...{ uri: 'http://keys/', host: 'keys', path: '/', clusterName: 'keys', clusters },
    ...{ timeoutMs: 0, retries, backOff: { baseMs: 1, maxMs: 2 }, ...(tryMs && { tryMs }) },
  };
  const ask = () => fetcher.fetch(source, { method: 'GET', headers: {} });
  return { ask, fetcher, server, answers, again, counts };
}

/** What came of asking such a host, and what was counted. */
async function fetchFrom(...given: Parameters<typeof start>) {
  const { ask, answers, again, counts } = await start(...given);
  const answer = await ask();
  const retried = Object.entries(counts).filter(([name]) => /^upstream_rq_retry_[ls]/.test(name));
  const late = counts['upstream_rq_per_try_timeout'];
  const rest = { ...(late && { late }), tries: counts['upstream_rq_total'] };
  return { status: answer?.status, answers, again, retried, ...rest };
}

test('of several tries the answer that is used is counted as one, and the others as retried', async (t) => {
  assert.deepEqual(await fetchFrom(t, [503, 500, 200], 2), {
    ...{ status: 200, answers: [200], again: [503, 500], tries: 3 },
    retried: [['upstream_rq_retry_success', 1]],
  });
  assert.deepEqual(await fetchFrom(t, [503], 1), {
    ...{ status: 503, answers: [503], again: [503], tries: 2 },
    retried: [['upstream_rq_retry_limit_exceeded', 1]],
  });
  assert.deepEqual(await fetchFrom(t, [503], 0), {
    ...{ status: 503, answers: [503], again: [], tries: 1, retried: [] },
  });
});

test('a try that takes longer than one may is ended, and the next one is made', async (t) => {
  assert.deepEqual(await fetchFrom(t, [0, 200], 1, 500), {
    ...{ status: 200, answers: [200], again: [], tries: 2, late: 1 },
    retried: [['upstream_rq_retry_success', 1]],
  });
  assert.deepEqual(await fetchFrom(t, [0], 0, 20), {
    ...{ status: 504, answers: [504], again: [], tries: 1, late: 1, retried: [] },
  });
});

test('the time of a try begins once its host is asked, however long it takes to connect', async (t) => {
  const { ask, answers, counts } = await start(t, [200], 1, 500);
  const answering = ask();
  // As while a library is read.
  const endMs = performance.now() + 700;
  while (performance.now() < endMs);
  assert.equal((await answering)?.status, 200);
  assert.deepEqual([answers, counts['upstream_rq_retry']], [[200], undefined]);
});

test('once it is closed nothing is asked any more', async (t) => {
  const { ask, fetcher, counts } = await start(t, [200], 2);
  fetcher.close();
  assert.equal(await ask(), undefined);
  assert.deepEqual(counts, {});
});

test('what is under way as it is closed is not tried again', async (t) => {
  const { ask, fetcher, server, counts } = await start(t, [0], 2);
  const asked = once(server, 'request');
  const answering = ask();
  await asked;
  fetcher.close();
  assert.notEqual((await answering)?.status, 200);
  assert.equal(counts['upstream_rq_total'], 1);
});
