// Updates that the data plane refuses in part: what it took has its secrets, what it refused has none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApplyError, NativeProxy, RequestDemand } from '../../../src/native.js';
import type { ClusterPlan } from '../../../src/plan/cluster/cluster.js';
import { ClusterSources } from '../../../src/plan/cluster-sources.js';
import type { CompileContext } from '../../../src/plan/extension.js';
import { LiveSources } from '../../../src/plan/live-sources.js';
import { Demand_Kind } from '../../../src/plan/plan.gen.js';
import type { RdsPlan } from '../../../src/plan/route-slots.js';
import { Demands, type DemandHost } from '../../../src/xds/on-demand.js';
import { RouteSubscription } from '../../../src/xds/routes.js';
import type { Subscribing } from '../../../src/xds/subscription.js';
import type { Updates } from '../../../src/xds/updates.js';

/** A control plane whose updates are given by hand, and a data plane that refuses what it is told to. */
function start() {
  let updates: Updates | undefined;
  let errors: readonly ApplyError[] = [];
  let heed: (demands: RequestDemand[]) => void = () => undefined;
  const native = {
    addRdsStats: () => 'rds.',
    addOdcdsStats: () => 'odcds.',
    removeStats: () => undefined,
    onDemands: (listener: typeof heed) => (heed = listener),
    apply: () => errors,
  } as unknown as NativeProxy;
  const host = {
    planes: {
      transport: (_: unknown, own: Updates) => {
        updates = own;
        return { start: () => undefined, stop: () => undefined, refresh: () => undefined };
      },
    },
    targets: { add: () => () => undefined },
    stats: {
      count: () => undefined,
      countSeldom: () => undefined,
      countDeprecated: () => undefined,
      setGauge: () => undefined,
      tellUpdate: () => undefined,
    },
    log: () => undefined,
  } as unknown as Subscribing;
  return {
    native,
    host,
    ask: (name: string) => heed([{ kind: Demand_Kind.CLUSTER, source: 1, name }]),
    take: (message: { readonly $type: string }, refused: readonly ApplyError[]) => {
      errors = refused;
      return updates?.take([{ message }], '1', 0);
    },
    takeAll: (messages: readonly { readonly $type: string }[], refused: readonly ApplyError[]) => {
      errors = refused;
      return updates?.take(
        messages.map((message) => ({ message })),
        '1',
        0,
      );
    },
  };
}

const ROUTES = 'envoy.config.route.v3.RouteConfiguration';
const FILTER = 'test.ByRoute';

test('of tables that are made of one route configuration each has its secrets by itself', () => {
  const { native, host, take } = start();
  const live = new LiveSources();
  const released: number[] = [];
  live.onRelease((id) => released.push(id));
  let last = 0;
  const context = {
    live,
    runtime: { liveNumber: () => ({}), liveMillionths: () => ({}) },
    extensions: {
      httpFilters: [
        {
          type: FILTER,
          byRoute: {
            type: FILTER,
            compile: (_: unknown, __: unknown, { holdLive }: CompileContext) => {
              holdLive(++last);
              return {};
            },
          },
        },
      ],
      upstreamHttpFilters: [],
    },
  } as unknown as CompileContext;
  const chain = [{ name: 'f', type: FILTER }];
  const plan: RdsPlan = {
    ...{ name: 'r', statPrefix: 'in', source: { kind: 'ads', initialFetchTimeoutMs: 0 } },
    tables: [
      { slot: 'one', chain },
      { slot: 'two', chain },
    ],
  };
  const routes = new RouteSubscription(plan, native, context, host);
  const update = (version: string, refused: readonly ApplyError[]) =>
    take(
      Object.assign(
        { $type: ROUTES },
        {
          name: 'r',
          internal_only_headers: [version],
          typed_per_filter_config: { f: { $type: FILTER } },
        },
      ),
      refused,
    );
  const refusing = (slot: string): ApplyError => ({
    ...{ kind: 'route_table', name: slot, message: `not ${slot}` },
  });
  assert.equal(update('a', []), undefined);
  assert.deepEqual(released, []);
  // 3 is in use from here on, in the place of 1; 4 is not.
  assert.equal(update('b', [refusing('two')]), 'not two');
  assert.deepEqual(released.splice(0), [1, 4]);
  assert.equal(update('c', [{ kind: 'plan', name: '', message: 'not read' }]), 'not read');
  assert.deepEqual(released.splice(0), [5, 6]);
  routes.end();
  assert.deepEqual(released, [3, 2]);
});

const CLUSTER = 'envoy.config.cluster.v3.Cluster';

test('of clusters on demand those that are taken are there, and keep their secrets', () => {
  const { native, host, takeAll, ask } = start();
  const released: string[] = [];
  const sources = new ClusterSources();
  sources.add({ source: { kind: 'ads', initialFetchTimeoutMs: 0 } });
  const compile = ({ name = '' }) =>
    ({
      cluster: { name },
      secrets: [{ release: () => released.push(name) }],
    }) as unknown as ClusterPlan;
  const demands = new Demands({ sources, compile }, native, host, {
    hosts: {
      awaits: () => false,
      expect: () => undefined,
      follow: () => undefined,
      hostsOf: () => undefined,
    },
    isStatic: () => false,
    warmed: () => Promise.resolve(),
  } as unknown as DemandHost);
  ask('a');
  const wrong = takeAll(
    ['a', 'b'].map((name) => Object.assign({ $type: CLUSTER }, { name })),
    [
      { kind: 'assignment', name: 'a', message: 'no hosts of a' },
      { kind: 'cluster', name: 'b', message: 'not b' },
    ],
  );
  assert.equal(wrong, 'no hosts of a\nnot b');
  assert.deepEqual(released, ['b']);
  assert.deepEqual(
    [...demands.clusters].map(({ message }) => message.name),
    ['a'],
  );
});
