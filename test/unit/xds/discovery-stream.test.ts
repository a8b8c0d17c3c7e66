// A stream that ends is opened anew after a pause, and the rate limit holds requests back.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { GrpcStreamEvents } from '../../../src/grpc/client.js';
import { ControlClusters } from '../../../src/plan/control-clusters.js';
import type { StreamPlan } from '../../../src/plan/sources.js';
import { ControlStats } from '../../../src/stats/control-stats.js';
import { DiscoveryStream } from '../../../src/xds/discovery-stream.js';

const PLAN: StreamPlan = {
  isDelta: false,
  service: {
    kind: 'envoy',
    clusterName: 'plane',
    clusters: new ControlClusters(),
    authority: 'plane',
    metadata: [],
    maxMessageBytes: 0,
  },
  sendsNodeOnce: true,
  backOff: { baseMs: 100, maxMs: 400 },
};

/** Its statistics are what they were last set to, or how much was counted. */
async function start(t: TestContext, plan: StreamPlan) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(Math, 'random', () => 1);
  const values = new Map<string, number>();
  const names: string[] = [];
  const handle = (name: string): number => (names.push(name), names.length - 1);
  const nameOf = (index: unknown): string => names[index as number] ?? '';
  const stats = new ControlStats({
    stat: (name: string) => handle(name),
    isStat: () => true,
    counterAdd: (at: unknown, by: number) => {
      values.set(nameOf(at), (values.get(nameOf(at)) ?? 0) + by);
      return true;
    },
    gaugeSet: (at: unknown, value: number) => {
      values.set(nameOf(at), value);
      return true;
    },
  } as unknown as ConstructorParameters<typeof ControlStats>[0]);
  const opened: GrpcStreamEvents[] = [];
  const sent: Buffer[] = [];
  const happened: string[] = [];
  const lines: string[] = [];
  const stream = new DiscoveryStream(
    plan,
    '/a.Service/Stream',
    { stats, log: (level, line) => void lines.push(`${level}: ${line}`) },
    {
      statPrefix: 'control_plane.',
      makeClient: () =>
        Promise.resolve({
          isThere: true,
          open: (_, events) => {
            opened.push(events);
            return {
              isConnected: true,
              write: (bytes) => void sent.push(bytes),
              end: () => undefined,
              cancel: () => undefined,
            };
          },
          close: () => undefined,
        }),
      events: {
        onOpen: () => happened.push('open'),
        onMessage: (bytes) => happened.push(bytes.toString()),
        onClosed: () => happened.push('closed'),
      },
    },
  );
  t.after(() => stream.stop());
  await stream.start();
  return { stream, opened, sent, happened, lines, values };
}

test('pauses grow up to the longest, and begin anew once the control plane is heard', async (t) => {
  const { opened, happened, lines, values } = await start(t, PLAN);
  const end = (): void =>
    opened.at(-1)?.onEnd({ code: 'UNAVAILABLE', message: 'no healthy upstream' });
  assert.equal(values.get('control_plane.connected_state'), 1);
  for (const pauseMs of [100, 200, 400, 400]) {
    const before = opened.length;
    end();
    assert.equal(values.get('control_plane.connected_state'), 0);
    t.mock.timers.tick(pauseMs - 1);
    assert.equal(opened.length, before);
    t.mock.timers.tick(1);
    assert.equal(opened.length, before + 1);
  }
  opened.at(-1)?.onMessage(Buffer.from('hello'));
  end();
  t.mock.timers.tick(100);
  assert.equal(opened.length, 6);
  assert.deepEqual(happened.slice(-3), ['hello', 'closed', 'open']);
  // Said once of an outage.
  assert.deepEqual(
    lines.map((line) => line.split(':')[0]),
    ['warning', 'debug', 'debug', 'debug', 'warning'],
  );
  assert.match(
    lines[0] ?? '',
    /Stream gRPC config stream to plane closed: UNAVAILABLE: no healthy upstream/,
  );
});

test('one that ends as it is made counts twice, and its pause is that of two tries', async (t) => {
  const { opened, happened } = await start(t, PLAN);
  opened.at(-1)?.onEnd({ code: 'UNAVAILABLE', message: 'nobody', isAtOnce: true });
  assert.deepEqual(happened, ['open', 'closed', 'closed']);
  t.mock.timers.tick(199);
  assert.equal(opened.length, 1);
  t.mock.timers.tick(1);
  assert.equal(opened.length, 2);
  opened.at(-1)?.onEnd({ code: 'UNAVAILABLE', message: 'refused' });
  t.mock.timers.tick(399);
  assert.equal(opened.length, 2);
  t.mock.timers.tick(1);
  assert.deepEqual(happened, ['open', 'closed', 'closed', 'open', 'closed', 'open']);
});

test('that the control plane is done with a stream is no outage', async (t) => {
  const { opened, lines } = await start(t, PLAN);
  opened.at(-1)?.onEnd({ code: 'OK', message: '' });
  t.mock.timers.tick(100);
  opened.at(-1)?.onEnd({ code: 'UNAVAILABLE', message: 'away' });
  assert.deepEqual(
    lines.map((line) => line.split(':')[0]),
    ['debug', 'warning'],
  );
});

test('what waits for something else counts as pending, too', async (t) => {
  const { stream, values, opened } = await start(t, PLAN);
  stream.holdBack(2);
  assert.equal(values.get('control_plane.pending_requests'), 2);
  stream.send(() => Buffer.from('1'));
  assert.equal(values.get('control_plane.pending_requests'), 2);
  opened.at(-1)?.onEnd({ code: 'OK', message: '' });
  assert.equal(values.get('control_plane.pending_requests'), 0);
});

test('requests wait for the rate limit, and those of a stream that has ended are forgotten', async (t) => {
  const { stream, sent, opened, values } = await start(t, {
    ...PLAN,
    rateLimit: { burst: 2, perSecond: 0.001 },
  });
  for (const text of ['1', '2', '3', '4']) stream.send(() => Buffer.from(text));
  assert.deepEqual(sent.map(String), ['1', '2']);
  assert.equal(values.get('control_plane.pending_requests'), 2);
  assert.ok((values.get('control_plane.rate_limit_enforced') ?? 0) > 0);
  opened.at(-1)?.onEnd({ code: 'OK', message: '' });
  assert.equal(values.get('control_plane.pending_requests'), 0);
});
