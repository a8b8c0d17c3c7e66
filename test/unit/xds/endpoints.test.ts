// Hosts of a cluster, with localities whose endpoints come by themselves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NativeProxy } from '../../../src/native.js';
import type { EdsPlan } from '../../../src/plan/cluster/eds-cluster.js';
import type { LaterContext } from '../../../src/plan/compiled.js';
import type { Assignment } from '../../../src/plan/plan.gen.js';
import { EDS } from '../../../src/xds/api.js';
import type { AssignmentBatch } from '../../../src/xds/assignment-batch.js';
import { EndpointSubscription } from '../../../src/xds/endpoints.js';
import type { Subscribing, SubscriptionPlan } from '../../../src/xds/subscription.js';
import type { Offered, Updates } from '../../../src/xds/updates.js';

const ENDPOINT = 'envoy.config.endpoint.v3.LbEndpoint';
const collection = (id: string): string => `xdstp://a/${ENDPOINT}/${id}/*`;

const endpoint = (port: number): Offered => ({
  name: `xdstp://a/${ENDPOINT}/${port}`,
  message: Object.assign(
    { $type: ENDPOINT },
    { endpoint: { address: { socket_address: { address: '127.0.0.1', port_value: port } } } },
  ),
});

const locality = (zone: string) => ({
  locality: { zone },
  leds_cluster_locality_config: {
    leds_config: { ads: {}, resource_api_version: 'V3' },
    leds_collection_name: collection(zone),
  },
});

test('localities that are told at once of all that others were told have it, in whichever order', async () => {
  const known = new Map([
    [collection('one'), [endpoint(1), endpoint(2)]],
    [collection('none'), []],
  ]);
  for (const zones of [
    ['one', 'none'],
    ['none', 'one'],
  ]) {
    let take: Updates['take'] = () => assert.fail('nobody asks');
    const transport = ({ api, names: [name = ''] }: SubscriptionPlan, updates: Updates) => {
      if (api === EDS) take = updates.take.bind(updates);
      const start = (onFirst: () => void): void => {
        if (api === EDS) return;
        const taken = updates.take(known.get(name) ?? [], '1', 0);
        if (taken instanceof Promise) void taken.then(onFirst);
        else onFirst();
      };
      return { start, stop: () => undefined, refresh: () => undefined };
    };
    const nothing = (): undefined => undefined;
    const host = {
      planes: { transport },
      targets: { add: () => nothing },
      stats: { count: nothing, countDeprecated: nothing, tellUpdate: nothing },
      log: nothing,
    } as unknown as Subscribing;
    const native = { clusterPrefix: nothing, addLedsStats: () => 'leds.' };
    const put: Assignment[] = [];
    const assignments = {
      put: (one: Assignment) => {
        put.push(one);
        return Promise.resolve(undefined);
      },
    };
    const source = { kind: 'ads', initialFetchTimeoutMs: 0 } as const;
    const endpoints = new EndpointSubscription(
      { cluster: 'c', serviceName: '', source } as unknown as EdsPlan,
      {
        native: native as unknown as NativeProxy,
        assignments: assignments as unknown as AssignmentBatch,
      },
      {
        isAdsDelta: true,
        nodeContext: new Map(),
        hasAds: true,
        hasNode: true,
        authorities: { sourceOf: nothing },
      } as unknown as LaterContext,
      host,
    );
    const message = Object.assign(
      { $type: 'envoy.config.endpoint.v3.ClusterLoadAssignment' },
      { cluster_name: 'c', endpoints: zones.map(locality) },
    );
    assert.equal(endpoints.current, undefined);
    assert.equal(await take([{ message }], '1', 0), undefined);
    assert.equal(put.at(-1)?.hosts?.length, 2, zones.join());
  }
});
