import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { ClusterClient } from '../../../src/grpc/cluster-client.js';
import type { ClusterNative } from '../../../src/grpc/cluster-stats.js';
import { SharedPool } from '../../../src/grpc/shared-pool.js';
import type { GrpcStatus } from '../../../src/grpc/status.js';
import { ControlClusters } from '../../../src/plan/control-clusters.js';
import { grpcCluster } from '../../../src/plan/service-plan.js';

/** A client of cluster "late", what the data plane is asked, and what becomes of a call. */
async function played() {
  const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const { port } = server.address() as { readonly port: number };
  const clusters = new ControlClusters();
  const given: string[] = [];
  let isThere = false;
  const native: ClusterNative = {
    chooseHost: () => ({ address: '127.0.0.1', port, hostname: '' }),
    hostAdd: (...[, , , counter, amount]) => void given.push(`${counter} ${amount}`),
    takeBudget: () => true,
    returnBudget: (_, budget) => void given.push(budget),
    countAnswer: () => undefined,
    recordAnswerTime: () => undefined,
    addHttp2Stats: () => undefined,
    countRetried: () => undefined,
    addGoogleGrpcStats: () => '',
    removeStats: () => undefined,
    clusterPrefix: () => (isThere ? 'cluster.late.' : undefined),
    addTo: () => true,
  } as ClusterNative;
  const gauges = new Map<string, number>();
  const pool = new SharedPool({ clusterName: 'late', clusters }, native, {
    count: () => undefined,
    setGauge: (name, value) => gauges.set(name, value),
    record: () => undefined,
  });
  const service = {
    kind: 'envoy',
    ...{ clusterName: 'late', clusters, authority: 'late', metadata: [], maxMessageBytes: 0 },
  } as const;
  const client = new ClusterClient(service, pool, () => pool.close());
  const call = (): Promise<GrpcStatus> =>
    new Promise((onEnd) => client.open('/a.B/C', { onMessage: () => undefined, onEnd }));
  return {
    ...{ client, clusters, given, gauges, call },
    come: (whether: boolean) => (isThere = whether),
    close: () => {
      client.close();
      server.close();
    },
  };
}

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((later) => setTimeout(later, 5));
};

test('nobody is called until there is such a cluster, in the data plane too', async (t) => {
  const { client, clusters, call, come, gauges, close } = await played();
  t.after(close);
  assert.equal(client.isThere, false);
  assert.deepEqual(await call(), {
    code: 'UNAVAILABLE',
    message: 'Cluster not available',
    isAtOnce: true,
  });
  clusters.set('late', grpcCluster({ name: 'late', connect_timeout_ms: 1000 }, {}));
  assert.equal(client.isThere, false);
  come(true);
  assert.equal(client.isThere, true);
  void call();
  await until(() => gauges.get('cluster.late.upstream_cx_active') === 1);
});

test('calls to a cluster that becomes another end, and what they held is not given to that one', async (t) => {
  const { client, clusters, call, come, given, gauges, close } = await played();
  t.after(close);
  const plan = grpcCluster({ name: 'late', connect_timeout_ms: 1000 }, {});
  clusters.set('late', plan);
  come(true);
  const called = call();
  await until(() => gauges.get('cluster.late.upstream_rq_active') === 1);
  clusters.expect('late', { ...plan });
  given.length = 0;
  clusters.replaced('late');
  assert.equal((await called).code, 'UNAVAILABLE');
  await until(() => gauges.get('cluster.late.upstream_cx_active') === 0);
  assert.equal(gauges.get('cluster.late.upstream_rq_active'), 0);
  assert.deepEqual(given, []);
  void call();
  await until(() => gauges.get('cluster.late.upstream_cx_active') === 1);
  come(false);
  clusters.delete('late');
  assert.equal(client.isThere, false);
});
