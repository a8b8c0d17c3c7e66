// What leaves for log services, message by message.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GrpcClient, GrpcStreamEvents } from '../../../src/grpc/client.js';
import { OtelSender } from '../../../src/log-services/otel-sender.js';
import { lengthDelimited, type SenderHost } from '../../../src/log-services/sender-host.js';
import { StreamSender } from '../../../src/log-services/stream-sender.js';
import type { OtlpHttpSender } from '../../../src/otlp/otlp-senders.js';
import type { GrpcServicePlan } from '../../../src/plan/service-plan.js';

const SERVICE = {} as GrpcServicePlan;

function scripted() {
  const messages: Buffer[] = [];
  const sent: (() => void)[] = [];
  let events: GrpcStreamEvents | undefined;
  let isThere = true;
  const client: GrpcClient = {
    get isThere() {
      return isThere;
    },
    open: (_, told) => {
      events = told;
      return {
        isConnected: true,
        write: (message, onSent) => {
          messages.push(message);
          sent.push(onSent);
        },
        end: () => undefined,
        cancel: () => undefined,
      };
    },
    close: () => undefined,
  };
  const counts = new Map<string, number>();
  let waiting = 0;
  const host: SenderHost = {
    sender: {
      node: { id: 'n', cluster: 'c', locality: { zone: 'z' } },
      build: { version: { major_number: 1, minor_number: 2, patch: 3 }, metadata: {} },
    },
    onWaiting: (bytes) => (waiting += bytes),
    count: (name, amount) => counts.set(name, (counts.get(name) ?? 0) + amount),
    warn: () => undefined,
  };
  return {
    ...{ client, host, messages, sent, counts },
    waiting: () => waiting,
    end: (code: 'OK' | 'UNAVAILABLE') => events?.onEnd({ code, message: '' } as never),
    answer: (message: Buffer) => events?.onMessage(message),
    come: (whether: boolean) => (isThere = whether),
  };
}

test('a length is a varint before the bytes', () => {
  assert.deepEqual([...lengthDelimited(2, Buffer.from('ab'))], [0x12, 2, 0x61, 0x62]);
  assert.deepEqual([...lengthDelimited(1, Buffer.alloc(300)).subarray(0, 3)], [0x0a, 0xac, 0x02]);
});

test('a stream begins with who sends; later messages are entries alone', () => {
  const { client, host, messages, sent, waiting, counts, end } = scripted();
  const plan = {
    kind: 'stream',
    service: SERVICE,
    flushMs: 1,
    logName: 'l',
    isTcp: false,
  } as const;
  const sender = new StreamSender(plan, client, host);
  sender.send(Buffer.from('one'), 2);
  sender.send(Buffer.from('two'), 1);
  assert.equal(messages[0]?.[0], 0x0a);
  assert.deepEqual(messages[1], lengthDelimited(2, Buffer.from('two')));
  assert.equal(counts.get('access_logs.grpc_access_log.grpc_entries_flushed'), 3);
  assert.ok(waiting() > 0);
  for (const one of sent) one();
  assert.equal(waiting(), 0);
  end('UNAVAILABLE');
  sender.send(Buffer.from('three'), 1);
  assert.equal(messages[2]?.[0], 0x0a);
});

test('entries for nobody wait, and leave once there is somebody', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { client, host, messages, sent, counts, waiting, come } = scripted();
  const plan = {
    kind: 'stream',
    service: SERVICE,
    flushMs: 10,
    logName: 'l',
    isTcp: true,
  } as const;
  const sender = new StreamSender(plan, client, host);
  come(false);
  sender.send(Buffer.from('one'), 2);
  assert.deepEqual([messages.length, waiting()], [0, 3]);
  sender.send(Buffer.from('two'), 1);
  t.mock.timers.tick(10);
  come(true);
  t.mock.timers.tick(10);
  sender.send(Buffer.from('three'), 1);
  const [first = Buffer.alloc(0), ...later] = messages;
  const both = lengthDelimited(3, Buffer.from('onetwo'));
  assert.deepEqual(first.subarray(-both.length), both);
  assert.deepEqual(later, [lengthDelimited(3, Buffer.from('three'))]);
  for (const one of sent) one();
  assert.equal(waiting(), 0);
  const PREFIX = 'access_logs.grpc_access_log.grpc_entries_';
  assert.deepEqual(Object.fromEntries(counts), {
    [`${PREFIX}flush_failed`]: 2 + 3 + 3,
    [`${PREFIX}flushed`]: 3 + 1,
  });
});

test('records that nobody can be posted go with the next ones, or alone where they are too many', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { host, counts, waiting } = scripted();
  const posted: Buffer[] = [];
  let isThere = false;
  const way = {
    get isThere() {
      return isThere;
    },
    send: (message: Buffer) => (posted.push(message), Promise.resolve(undefined)),
    close: () => undefined,
  };
  const plan = {
    kind: 'otel',
    via: SERVICE,
    flushMs: 10,
    statPrefix: 'p.',
    resource: [],
    logName: '',
  } as const;
  const sender = new OtelSender(plan, way as unknown as OtlpHttpSender, host);
  sender.send(Buffer.from('one'), 2);
  assert.deepEqual([posted.length, counts.size, waiting()], [0, 0, 3]);
  isThere = true;
  sender.send(Buffer.from('two'), 1);
  await new Promise(setImmediate);
  assert.equal(posted.length, 1);
  assert.deepEqual(Object.fromEntries(counts), { 'p.logs_written': 3 });
  assert.match(posted[0]?.toString('latin1') ?? '', /onetwo$/);
  assert.equal(waiting(), 0);
  isThere = false;
  sender.send(Buffer.from('three'), 1);
  isThere = true;
  t.mock.timers.tick(10);
  assert.equal(posted.length, 1);
  // Where so much waits nobody gives any more.
  isThere = false;
  sender.send(Buffer.alloc(1024 * 1024, 'x'), 1);
  t.mock.timers.tick(10);
  assert.equal(posted.length, 1);
  isThere = true;
  t.mock.timers.tick(10);
  await new Promise(setImmediate);
  assert.match(posted[1]?.toString('latin1') ?? '', /threex+$/);
  assert.equal(waiting(), 0);
});

test('what a collector rejects, or never answers, is lost', () => {
  const { client, host, counts, answer, end } = scripted();
  const plan = {
    kind: 'otel',
    via: SERVICE,
    flushMs: 1,
    statPrefix: 'p.',
    resource: [],
    logName: 'l',
  } as const;
  const sender = new OtelSender(plan, client, host);
  sender.send(Buffer.from('x'), 5);
  answer(Buffer.from([0x0a, 2, 0x08, 2]));
  end('OK');
  assert.deepEqual([counts.get('p.logs_written'), counts.get('p.logs_dropped')], [3, 2]);
  sender.send(Buffer.from('x'), 4);
  end('UNAVAILABLE');
  assert.deepEqual([counts.get('p.logs_written'), counts.get('p.logs_dropped')], [3, 6]);
});
