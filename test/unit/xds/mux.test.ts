// When requests leave: some of them at once, others together with what is asked for meanwhile.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WireWriter } from '../../../src/base/wire.js';
import { loadAny } from '../../../src/config/load-any.js';
import type { GrpcStreamEvents } from '../../../src/grpc/client.js';
import { ControlClusters } from '../../../src/plan/control-clusters.js';
import type { StreamPlan } from '../../../src/plan/sources.js';
import { ECDS, EDS, RTDS, urlOf } from '../../../src/xds/api.js';
import { Mux } from '../../../src/xds/mux.js';
import type { Watcher } from '../../../src/xds/watcher.js';

const text = (field: number): number => (field << 3) | 2;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function watcher(...names: readonly string[]): Watcher {
  return {
    names,
    onUpdate: () => undefined,
    onRefused: () => undefined,
    onAbsent: () => undefined,
    onFailure: () => undefined,
  };
}

function make(isDelta: boolean) {
  const sent: string[] = [];
  const opened: GrpcStreamEvents[] = [];
  const kind = isDelta ? 'DeltaDiscoveryRequest' : 'DiscoveryRequest';
  const write = (bytes: Buffer): void => {
    const url = `type.googleapis.com/envoy.service.discovery.v3.${kind}`;
    const { message } = loadAny(url, bytes, {});
    const { node, resource_names, resource_names_subscribe } = message as Record<string, unknown>;
    const names = (resource_names ?? resource_names_subscribe) as readonly string[];
    sent.push(`${names.join(' ')}${node === undefined ? '' : ' of a node'}`);
  };
  const plan: StreamPlan = {
    isDelta,
    service: {
      kind: 'envoy',
      clusterName: 'plane',
      clusters: new ControlClusters(),
      authority: 'plane',
      metadata: [],
      maxMessageBytes: 0,
    },
    sendsNodeOnce: true,
    backOff: { baseMs: 0, maxMs: 0 },
  };
  const stats = { setGauge: () => undefined, count: () => undefined };
  const host = { stats, log: () => undefined, unknownFields: 'told' };
  const mux = new Mux(plan, host as unknown as ConstructorParameters<typeof Mux>[1], {
    ...{ statPrefix: '', method: '/a.Service/Stream', node: Buffer.from([10, 1, 97]) },
    makeClient: () =>
      Promise.resolve({
        isThere: true,
        open: (_, events) => {
          opened.push(events);
          return { isConnected: true, write, end: () => undefined, cancel: () => undefined };
        },
        close: () => undefined,
      }),
    onStop: () => undefined,
  });
  return { mux, sent, opened };
}

test('layers of the runtime and filters are asked for one by one, before there is a stream, too', async () => {
  for (const isDelta of [false, true]) {
    const { mux, sent, opened } = make(isDelta);
    mux.watch(RTDS, watcher('one'));
    mux.watch(RTDS, watcher('two'));
    await turn();
    const second = isDelta ? 'two' : 'two one';
    assert.deepEqual(sent, ['one of a node', second]);
    mux.watch(ECDS, watcher('f'));
    mux.watch(ECDS, watcher('g'));
    assert.deepEqual(sent.slice(2), ['f', isDelta ? 'g' : 'g f']);

    // Another stream is told of all at once.
    opened.at(-1)?.onEnd({ code: 'OK', message: '' });
    while (opened.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    await turn();
    const all = isDelta ? ['one two of a node', 'f g'] : ['two one of a node', 'g f'];
    assert.deepEqual(sent.slice(4), all);
    mux.stop();
  }
});

test('what the first response of a type lets begin is asked for before its answer, also where it is refused', async () => {
  const { mux, sent, opened } = make(false);
  // It takes its time, but nothing else.
  const begin = async (): Promise<void> => {
    for (let steps = 0; steps < 20; steps++) await Promise.resolve();
    mux.watch(ECDS, watcher('f'));
  };
  mux.watch(RTDS, { ...watcher('one'), onRefused: () => void begin() });
  await turn();
  const response = new WireWriter();
  response.message(text(2), 'nothing of it', (any, garbage) => {
    any.text(text(1), urlOf(RTDS));
    any.text(text(2), garbage);
  });
  response.text(text(4), urlOf(RTDS));
  opened[0]?.onMessage(Buffer.from(response.finish()));
  while (sent.length < 3) await turn();
  assert.deepEqual(sent, ['one of a node', 'f', 'one']);
  mux.stop();
});

test('hosts are asked for together, and not before those who ask are all there', async () => {
  const { mux, sent } = make(true);
  mux.open();
  await turn();
  mux.hold(EDS, true);
  mux.watch(EDS, watcher('b'));
  await turn();
  mux.watch(EDS, watcher('a'));
  await turn();
  assert.deepEqual(sent, []);
  mux.hold(EDS, false);
  await turn();
  assert.deepEqual(sent, ['a b of a node']);
  mux.stop();
});
