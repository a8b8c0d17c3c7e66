import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { NameResolver } from '../../../../src/server/dns/name-resolver.js';

const POINTER_TO_NAME = [0xc0, 12];
const record = (type: number, ttl: number, data: readonly number[]): number[] => [
  ...POINTER_TO_NAME,
  ...[0, type, 0, 1, 0, 0, ttl >> 8, ttl & 0xff, 0, data.length],
  ...data,
];

/** What a server says to a question. */
function answerTo(question: Buffer, status: number, ...records: readonly number[][]): Buffer {
  const answer = Buffer.from(question);
  answer.writeUInt16BE(0x8180 | status, 2);
  answer.writeUInt16BE(records.length, 6);
  return Buffer.concat([answer, Buffer.from(records.flat())]);
}

async function serving(t: TestContext, answer: (question: Buffer) => Buffer): Promise<string> {
  const server = createServer((socket) => {
    socket.on('data', (bytes: Buffer) => {
      const message = answer(bytes.subarray(2));
      const length = Buffer.alloc(2);
      length.writeUInt16BE(message.length);
      // In pieces, as it may come.
      socket.write(length);
      setImmediate(() => socket.write(message));
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a server is asked over TCP, and addresses are those behind other names, too', async (t) => {
  const server = await serving(t, (question) =>
    answerTo(
      question,
      0,
      record(5, 60, [1, 97, 0]),
      record(1, 300, [192, 0, 2, 1]),
      record(1, 30, [192, 0, 2, 2]),
    ),
  );
  const resolver = new NameResolver({ servers: [server], usesTcp: true, hasNoSearch: true });
  assert.deepEqual(await resolver.lookup('name.test', 'V4_ONLY'), {
    kind: 'addresses',
    addresses: ['192.0.2.1', '192.0.2.2'],
    ttlMs: 30_000,
  });
});

test('a name that is not there is none; a server that is not there, or breaks off, has failed', async (t) => {
  const unknown = await serving(t, (question) => answerTo(question, 3));
  const of = (server: string) =>
    new NameResolver({ servers: [server], usesTcp: true, hasNoSearch: true, tries: 1 });
  assert.deepEqual(await of(unknown).lookup('name.test', 'V4_ONLY'), { kind: 'none' });
  const odd = await serving(t, (question) => answerTo(question, 0).subarray(0, 11));
  assert.equal((await of(odd).lookup('name.test', 'V4_ONLY')).kind, 'failed');
  assert.equal((await of('127.0.0.1:1').lookup('name.test', 'V4_ONLY')).kind, 'failed');
});
