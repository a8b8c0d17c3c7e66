// What leaves for log services, message by message.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GrpcClient, GrpcStreamEvents } from '../../../src/grpc/client.js';
import { OtelSender } from '../../../src/log-services/otel-sender.js';
import { lengthDelimited, type SenderHost } from '../../../src/log-services/sender-host.js';
import { StreamSender } from '../../../src/log-services/stream-sender.js';
import type { GrpcServicePlan } from '../../../src/plan/service-plan.js';

const SERVICE = {} as GrpcServicePlan;

function scripted() {
  const messages: Buffer[] = [];
  const sent: (() => void)[] = [];
  let events: GrpcStreamEvents | undefined;
  const client: GrpcClient = {
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
