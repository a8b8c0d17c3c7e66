import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NativeProxy } from '../../../src/native.js';
import type { CdsPlan } from '../../../src/plan/cluster/cds-plan.js';
import type { ClusterPlan } from '../../../src/plan/cluster/cluster.js';
import { ClusterSubscription, type HostSources } from '../../../src/xds/clusters.js';
import type { Subscribing } from '../../../src/xds/subscription.js';
import type { Updates } from '../../../src/xds/updates.js';

const TYPE = 'envoy.config.cluster.v3.Cluster';
const COUNT = 250;

const plan = {
  source: { kind: 'ads' },
  staticClusters: [],
  compile: ({ name = '' }) => ({ cluster: { name } }) as ClusterPlan,
} as unknown as CdsPlan;

test('of many clusters none is in the data plane that does not wait for its hosts yet', async () => {
  const waiting = new Set<string>();
  const followed = new Set<string>();
  const held: (readonly [string, boolean])[] = [];
  let inPlace = 0;
  let updates: Updates | undefined;
  const native = {
    addCdsStats: () => 'cluster_manager.cds.',
    apply: () => {
      // Pages and statistics may be read between one journey and the next.
      assert.equal(waiting.size, inPlace);
      inPlace = Math.min(COUNT, inPlace + 100);
      return [];
    },
  } as unknown as NativeProxy;
  const sources: HostSources = {
    awaits: () => true,
    expect: ({ cluster: { name = '' } }) => waiting.add(name),
    follow: ({ cluster: { name = '' } }) => followed.add(name),
    hostsOf: () => undefined,
    forget: () => assert.fail('none is gone'),
    isWarming: (name) => waiting.has(name),
  };
  const host = {
    planes: {
      transport: (_: unknown, own: Updates) => {
        updates = own;
        return { start: () => undefined, stop: () => undefined, refresh: () => undefined };
      },
      minClusters: () => 0,
      hold: ({ type }: { readonly type: string }, isHeld: boolean) => held.push([type, isHeld]),
    },
    targets: { add: () => () => undefined },
    stats: {
      count: () => undefined,
      countDeprecated: () => undefined,
      setGauge: () => undefined,
      tellUpdate: () => undefined,
    },
    log: () => undefined,
  } as unknown as Subscribing;
  const clusters = new ClusterSubscription(plan, native, host, sources);
  clusters.start();
  const messages = Array.from({ length: COUNT }, (_, index) => ({
    message: { $type: TYPE, name: `cluster ${index}` },
  }));
  assert.equal(await updates?.take(messages, '1', 0), undefined);
  assert.deepEqual([waiting.size, inPlace], [COUNT, COUNT]);
  while (followed.size < COUNT) await new Promise((resolve) => setImmediate(resolve));
  // What all of them need is asked for at once.
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    held.filter(([type]) => type === 'envoy.config.endpoint.v3.ClusterLoadAssignment'),
    [
      ['envoy.config.endpoint.v3.ClusterLoadAssignment', true],
      ['envoy.config.endpoint.v3.ClusterLoadAssignment', false],
    ],
  );
});
