import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NativeProxy, RequestDemand } from '../../../src/native.js';
import { ClusterSources } from '../../../src/plan/cluster-sources.js';
import { Demand_Kind } from '../../../src/plan/plan.gen.js';
import type { HostSources } from '../../../src/xds/clusters.js';
import { Demands, type DemandHost } from '../../../src/xds/on-demand.js';
import type { Subscribing } from '../../../src/xds/subscription.js';

function start(hooks: Partial<DemandHost>): {
  readonly demand: (name: string, kind?: Demand_Kind) => void;
  readonly told: () => number;
} {
  let heed: (demands: RequestDemand[]) => void = () => undefined;
  let told = 0;
  const native = {
    onDemands: (listener: typeof heed) => (heed = listener),
    apply: () => {
      told += 1;
      return [];
    },
  } as unknown as NativeProxy;
  const parts = { sources: new ClusterSources(), compile: () => undefined };
  const host = { askForHost: () => false, askForRoutes: () => false, ...hooks } as DemandHost;
  new Demands(parts, native, {} as Subscribing, host);
  return {
    demand: (name, kind = Demand_Kind.CLUSTER) => heed([{ kind, source: 1, name }]),
    told: () => told,
  };
}

test('who wants a cluster that is there is told at once; who wants one that warms, once it is there', async () => {
  let warm = (): void => undefined;
  const warmed = new Promise<void>((resolve) => (warm = resolve));
  const { demand, told } = start({
    isStatic: () => true,
    hosts: { isWarming: (name) => name === 'warming' } as Partial<HostSources> as HostSources,
    warmed: () => warmed,
  });
  demand('there');
  assert.equal(told(), 1);
  demand('warming');
  await Promise.resolve();
  assert.equal(told(), 1);
  warm();
  await warmed;
  await Promise.resolve();
  assert.equal(told(), 2);
});
