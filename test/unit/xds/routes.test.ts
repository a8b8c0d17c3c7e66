// Route configurations whose virtual hosts come by themselves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NativeProxy } from '../../../src/native.js';
import type { CompileContext } from '../../../src/plan/extension.js';
import { LiveSources } from '../../../src/plan/live-sources.js';
import { RDS, VHDS } from '../../../src/xds/api.js';
import { RouteSubscription } from '../../../src/xds/routes.js';
import type { Subscribing, SubscriptionPlan } from '../../../src/xds/subscription.js';
import type { Updates } from '../../../src/xds/updates.js';

test('virtual hosts that are told as they are asked for are in use with their route configuration', () => {
  let take: Updates['take'] = () => assert.fail('nobody asks');
  const transport = ({ api }: SubscriptionPlan, updates: Updates) => {
    if (api === RDS) take = updates.take.bind(updates);
    const start = (onFirst: () => void): void => {
      if (api !== VHDS) return;
      const message = { $type: 'envoy.config.route.v3.VirtualHost', name: 'a', domains: ['a'] };
      assert.equal(updates.take([{ name: 'r/a', message }], '1', 0), undefined);
      onFirst();
    };
    return { start, stop: () => undefined, refresh: () => undefined };
  };
  const nothing = (): undefined => undefined;
  const host = {
    planes: { transport },
    targets: { add: () => nothing },
    stats: {
      ...{ count: nothing, countDeprecated: nothing },
      ...{ setGauge: nothing, tellUpdate: nothing },
    },
    log: nothing,
  } as unknown as Subscribing;
  let applied = 0;
  const native = {
    addRdsStats: () => 'rds.',
    addVhdsStats: () => 'vhds.',
    apply: () => {
      applied++;
      return [];
    },
  } as unknown as NativeProxy;
  const context = {
    ...{ live: new LiveSources(), hasNode: true, hasAds: true, isAdsDelta: true },
    runtime: { liveNumber: () => ({}), liveMillionths: () => ({}) },
    extensions: { httpFilters: [], upstreamHttpFilters: [] },
  } as unknown as CompileContext;
  const source = { kind: 'ads', initialFetchTimeoutMs: 0 } as const;
  const plan = { name: 'r', statPrefix: 'in', source, tables: [{ slot: 'one', chain: [] }] };
  const routes = new RouteSubscription(plan, native, context, host);
  routes.start(nothing);
  const message = Object.assign(
    { $type: 'envoy.config.route.v3.RouteConfiguration' },
    { name: 'r', vhds: { config_source: { ads: {}, resource_api_version: 'V3' } } },
  );
  assert.equal(take([{ message }], '1', 0), undefined);
  assert.equal(applied, 2);
  assert.deepEqual(
    routes.current?.message.virtual_hosts?.map(({ name }) => name),
    ['a'],
  );
});
