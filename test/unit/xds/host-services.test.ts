// Load reports and health discovery, beside a data plane and a service that are only played.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { WireWriter } from '../../../src/base/wire.js';
import type { GrpcClient, GrpcStreamEvents } from '../../../src/grpc/client.js';
import type { NativeProxy } from '../../../src/native.js';
import type { ControlStats } from '../../../src/stats/control-stats.js';
import { HealthDiscovery } from '../../../src/xds/health-discovery.js';
import { LoadReporter } from '../../../src/xds/load-reporter.js';
import { compile } from '../plan/helpers.js';
import { compileCluster } from '../../../src/plan/cluster/cluster.js';

const BYTES = 2;
const text = (field: number): number => (field << 3) | BYTES;
const number = (field: number): number => field << 3;

/** A service, its streams, and what it hears. */
function played() {
  const heard: Buffer[] = [];
  const counts = new Map<string, number>();
  const streams: GrpcStreamEvents[] = [];
  const client: GrpcClient = {
    isThere: true,
    open: (_method, events) => {
      streams.push(events);
      return {
        isConnected: true,
        write: (message) => heard.push(message),
        end: () => undefined,
        cancel: () => undefined,
      };
    },
    close: () => undefined,
  };
  const stats = {
    count: (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1),
  } as unknown as ControlStats;
  return {
    heard,
    counts,
    streams,
    parts: {
      stats,
      log: () => undefined,
      node: Buffer.from([text(1), 1, 110]),
      makeClient: () => Promise.resolve(client),
    },
  };
}

/** A reporter without clusters, and its service. */
async function reportingNothing() {
  const service = played();
  const native = { addLoadReporterStats: () => 'load_reporter.' } as unknown as NativeProxy;
  const reporter = new LoadReporter({ ...service.parts, native, clusters: () => [] });
  await reporter.start();
  return { ...service, reporter };
}

const withTimers = (context: TestContext): void =>
  context.mock.timers.enable({ apis: ['setTimeout'] });

const hostWith = (total: number, fields: object = {}) => ({
  address: { socket_address: { address: '192.0.2.1', port_value: 80 } },
  locality: { zone: 'z' },
  stats: [
    { name: 'rq_total', value: String(total) },
    { name: 'rq_success', value: String(total) },
  ],
  ...fields,
});

const NOTHING_DROPPED = { dropped: 0, category: '', shed: 0 };

/** A service asks for loads of "shop" every second. */
function wantsShop(): Buffer {
  const asks = new WireWriter();
  asks.text(text(1), 'shop');
  asks.message(text(2), 1, (duration) => duration.number(number(1), 1));
  return Buffer.from(asks.finish());
}

test('loads are those since the last report, and of clusters that the service wants', async (context) => {
  withTimers(context);
  const { heard, counts, streams, parts } = played();
  let total = 5;
  const native = {
    addLoadReporterStats: () => 'load_reporter.',
    clusterStatus: (name: string) =>
      name === 'shop' ? JSON.stringify({ host_statuses: [hostWith(total)] }) : undefined,
    takeLoads: () =>
      JSON.stringify({ ...NOTHING_DROPPED, hosts: [{ 'named_metrics.queue': [3, 7.5] }] }),
  } as unknown as NativeProxy;
  const reporter = new LoadReporter({
    ...parts,
    native,
    clusters: () => [
      { name: 'shop', serviceName: 'eds-shop' },
      { name: 'other', serviceName: '' },
    ],
  });
  await reporter.start();
  assert.equal(heard.length, 1);
  streams[0]?.onMessage(wantsShop());
  total = 8;
  context.mock.timers.tick(1000);
  const [, report = Buffer.alloc(0)] = heard;
  assert.ok(report.includes('shop') && report.includes('eds-shop'));
  assert.ok(!report.includes('other'));
  assert.ok(report.includes(Buffer.from([number(2), 3])));
  assert.ok(report.includes(Buffer.from([number(8), 3])));
  assert.ok(report.includes('named_metrics.queue'));
  context.mock.timers.tick(1000);
  assert.ok(!heard[2]?.includes(Buffer.from([number(8), 3])));
  assert.equal(counts.get('load_reporter.requests'), 1);
  assert.equal(counts.get('load_reporter.responses'), 3);
  reporter.stop();
});

test('an address that is in two localities is told of in each by what it did there', async (context) => {
  withTimers(context);
  const { heard, streams, parts } = played();
  let total = 5;
  const native = {
    addLoadReporterStats: () => 'load_reporter.',
    clusterStatus: () =>
      JSON.stringify({
        host_statuses: [hostWith(total), hostWith(0, { locality: { zone: 'second' } })],
      }),
    takeLoads: () => JSON.stringify(NOTHING_DROPPED),
  } as unknown as NativeProxy;
  const clusters = () => [{ name: 'shop', serviceName: '' }];
  const reporter = new LoadReporter({ ...parts, native, clusters });
  await reporter.start();
  streams[0]?.onMessage(wantsShop());
  total = 7;
  context.mock.timers.tick(1000);
  assert.ok(heard[1]?.includes(Buffer.from([number(8), 2])));
  assert.ok(!heard[1]?.includes('second'));
  context.mock.timers.tick(1000);
  assert.ok(!heard[2]?.includes(Buffer.from([number(8)])));
  reporter.stop();
});

test('requests that no host was asked for are told of, dropped ones by their category', async (context) => {
  withTimers(context);
  const { heard, streams, parts } = played();
  let taken = { dropped: 3, category: 'flood', shed: 1 };
  const native = {
    addLoadReporterStats: () => 'load_reporter.',
    clusterStatus: () => undefined,
    takeLoads: () => JSON.stringify(taken),
  } as unknown as NativeProxy;
  const clusters = () => [{ name: 'shop', serviceName: '' }];
  const reporter = new LoadReporter({ ...parts, native, clusters });
  await reporter.start();
  streams[0]?.onMessage(wantsShop());
  taken = { dropped: 5, category: 'flood', shed: 5 };
  const dropped = (count: number): Buffer =>
    Buffer.concat([Buffer.from('flood'), Buffer.from([number(2), count])]);
  context.mock.timers.tick(1000);
  assert.ok(heard[1]?.includes(Buffer.from([number(3), 6])));
  assert.ok(heard[1]?.includes(dropped(2)));
  context.mock.timers.tick(1000);
  assert.ok(!heard[2]?.includes('flood'));
  // Another cluster of that name.
  taken = { dropped: 1, category: 'flood', shed: 0 };
  context.mock.timers.tick(1000);
  assert.ok(heard[3]?.includes(dropped(1)));
  reporter.stop();
});

test('what one stream asked for is told of on the next at once; the end of the first is no error', async (context) => {
  withTimers(context);
  const { heard, counts, streams, parts } = played();
  const native = {
    addLoadReporterStats: () => 'load_reporter.',
    clusterStatus: () => JSON.stringify({ host_statuses: [hostWith(0)] }),
    takeLoads: () => JSON.stringify(NOTHING_DROPPED),
  } as unknown as NativeProxy;
  const clusters = () => [{ name: 'shop', serviceName: '' }];
  const reporter = new LoadReporter({ ...parts, native, clusters });
  await reporter.start();
  streams[0]?.onMessage(wantsShop());
  streams[0]?.onEnd({ code: 'OK', message: '' });
  assert.equal(counts.get('load_reporter.errors'), undefined);
  context.mock.timers.tick(5000);
  assert.equal(heard.length, 2);
  assert.ok(heard[1]?.includes('shop'));
  context.mock.timers.tick(1000);
  assert.equal(heard.length, 3);
  reporter.stop();
});

test('a stream on which there is no LoadStatsResponse is left for another', async (context) => {
  withTimers(context);
  const { counts, streams, reporter } = await reportingNothing();
  streams[0]?.onMessage(Buffer.from([text(1), 255]));
  // What came along with it is of no use, be it well or not.
  streams[0]?.onMessage(Buffer.from([text(1), 255]));
  streams[0]?.onMessage(wantsShop());
  assert.equal(counts.get('load_reporter.errors'), 1);
  assert.equal(counts.get('load_reporter.requests'), undefined);
  context.mock.timers.tick(5000);
  assert.equal(streams.length, 2);
  context.mock.timers.tick(5000);
  assert.equal(streams.length, 2);
  reporter.stop();
});

test('a stream that ends is opened anew after five seconds', async (context) => {
  withTimers(context);
  const { counts, streams, reporter } = await reportingNothing();
  streams[0]?.onEnd({ code: 'UNAVAILABLE', message: '' } as never);
  assert.equal(counts.get('load_reporter.errors'), 1);
  context.mock.timers.tick(4999);
  assert.equal(streams.length, 1);
  context.mock.timers.tick(1);
  assert.equal(streams.length, 2);
  assert.equal(counts.get('load_reporter.retries'), 1);
  reporter.stop();
});

test('what is to be checked is a cluster that nobody sees, and its hosts are told of', async (context) => {
  withTimers(context);
  const { heard, counts, streams, parts } = played();
  const applied: Uint8Array[] = [];
  const asked: string[] = [];
  const native = {
    addHdsStats: () => 'hds_delegate.',
    apply: (update: Uint8Array) => {
      applied.push(update);
      return [];
    },
    clusterStatus: (name: string) => {
      asked.push(name);
      const health_status = { failed_active_health_check: true, active_hc_timeout: true };
      return JSON.stringify({ host_statuses: [hostWith(0, { health_status })] });
    },
  } as unknown as NativeProxy;
  const { context: compiling } = compile({});
  const discovery = new HealthDiscovery({
    ...parts,
    native,
    compile: (message, place) => compileCluster(message, place, compiling),
  });
  await discovery.start();
  assert.equal(counts.get('hds_delegate.responses'), 1);
  const asks = new WireWriter();
  asks.message(text(1), 'checked', (check, name) => {
    check.text(text(1), name);
    check.message(text(2), name, (health) => {
      for (const field of [1, 2]) {
        health.message(text(field), 1, (duration) => duration.number(number(1), 1));
      }
      for (const field of [4, 5]) {
        health.message(text(field), 1, (threshold) => threshold.number(number(1), 1));
      }
      health.message(text(9), name, () => undefined);
    });
  });
  const said = Buffer.from(asks.finish());
  streams[0]?.onMessage(said);
  streams[0]?.onMessage(said);
  assert.equal(applied.length, 1);
  assert.equal(counts.get('hds_delegate.updates'), 1);
  assert.equal(counts.get('hds_delegate.requests'), 2);
  context.mock.timers.tick(1000);
  assert.deepEqual(asked, ['health discovery of checked']);
  // health_status: TIMEOUT
  assert.ok(heard.at(-1)?.includes(Buffer.from([number(2), 4])));
  discovery.stop();
});

test('a specifier that makes no sense changes nothing', async () => {
  const { counts, streams, parts } = played();
  const native = {
    addHdsStats: () => 'hds_delegate.',
    apply: () => assert.fail('nothing is to be applied'),
  } as unknown as NativeProxy;
  const discovery = new HealthDiscovery({ ...parts, native, compile: () => undefined });
  await discovery.start();
  streams[0]?.onMessage(Buffer.from([0x0a, 0xff]));
  assert.equal(counts.get('hds_delegate.errors'), 1);
  discovery.stop();
});
