// Calls of @grpc/grpc-js through the proxy: its client on one side, its server on the other.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  type ServiceError,
} from '@grpc/grpc-js';
import { grpcBootstrap } from './support/grpc-bootstrap.js';
import { startProxy } from './support/start-proxy.js';

const MIB = 1 << 20;

const same = (bytes: Buffer): Buffer => bytes;
const path = (name: string) => `/kit.Echo/${name}`;
const rpc = (name: string, requestStream: boolean, responseStream: boolean) => ({
  path: path(name),
  requestStream,
  responseStream,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
});
const ECHO = {
  Unary: rpc('Unary', false, false),
  Fail: rpc('Fail', false, false),
  Wait: rpc('Wait', false, false),
  Collect: rpc('Collect', true, false),
  Repeat: rpc('Repeat', false, true),
  Chat: rpc('Chat', true, true),
};

type Unary = ServerUnaryCall<Buffer, Buffer>;
type Answer = sendUnaryData<Buffer>;

/** What the server saw of calls that were given up. */
interface Seen {
  cancelled: number;
}

async function startServer(t: TestContext, seen: Seen): Promise<number> {
  const server = new Server({ 'grpc.max_receive_message_length': 8 * MIB });
  t.after(() => server.forceShutdown());
  server.addService(ECHO, {
    Unary: (call: Unary, answer: Answer) => {
      call.sendMetadata(call.metadata);
      const trailers = new Metadata();
      trailers.set('tail-bin', Buffer.from([0, 255, 1]));
      answer(null, call.request, trailers);
    },
    Fail: (_call: Unary, answer: Answer) => {
      answer({
        code: status.FAILED_PRECONDITION,
        details: 'not now, 100 %',
        metadata: new Metadata(),
      });
    },
    Wait: (call: Unary) => void call.on('cancelled', () => seen.cancelled++),
    Collect: (call: ServerReadableStream<Buffer, Buffer>, answer: Answer) => {
      const pieces: Buffer[] = [];
      call.on('data', (piece: Buffer) => pieces.push(piece));
      call.on('end', () => answer(null, Buffer.concat(pieces)));
    },
    Repeat: (call: ServerWritableStream<Buffer, Buffer>) => {
      for (let i = 0; i < 100; i++) call.write(call.request);
      call.end();
    },
    Chat: (call: ServerDuplexStream<Buffer, Buffer>) => {
      call.on('data', (piece: Buffer) => call.write(piece));
      call.on('end', () => call.end());
    },
  });
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(error);
      else resolve(port);
    });
  });
}

async function start(t: TestContext, seen: Seen = { cancelled: 0 }): Promise<Client> {
  const proxy = await startProxy(t, grpcBootstrap(await startServer(t, seen)));
  const { host } = new URL(await proxy.listenerUrl('web'));
  const client = new Client(host, credentials.createInsecure(), {
    'grpc.max_receive_message_length': 8 * MIB,
    'grpc.max_send_message_length': 8 * MIB,
  });
  t.after(() => client.close());
  return client;
}

interface Outcome {
  readonly error: ServiceError | null;
  readonly answer: Buffer | undefined;
  readonly headers: Metadata;
  readonly trailers: Metadata;
}

function unary(
  client: Client,
  name: string,
  request: Buffer,
  metadata = new Metadata(),
  options: object = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    let headers = new Metadata();
    let trailers = new Metadata();
    const call = client.makeUnaryRequest(
      path(name),
      same,
      same,
      request,
      metadata,
      options,
      (error, answer) => setImmediate(() => resolve({ error, answer, headers, trailers })),
    );
    call.on('metadata', (value) => (headers = value));
    call.on('status', (value) => (trailers = value.metadata));
  });
}

test('a unary call has its metadata both ways, of bytes as well', async (t) => {
  const client = await start(t);
  const metadata = new Metadata();
  metadata.set('a-text', 'of some kind');
  metadata.set('some-bin', Buffer.from([1, 0, 254]));
  const { error, answer, headers, trailers } = await unary(
    client,
    'Unary',
    Buffer.from('hi'),
    metadata,
  );
  assert.equal(error, null);
  assert.equal(answer?.toString(), 'hi');
  assert.deepEqual(headers.get('a-text'), ['of some kind']);
  assert.deepEqual(headers.get('some-bin'), [Buffer.from([1, 0, 254])]);
  assert.deepEqual(trailers.get('tail-bin'), [Buffer.from([0, 255, 1])]);
});

test('a message of 4 MiB comes back whole', async (t) => {
  const client = await start(t);
  const request = Buffer.alloc(4 * MIB, 'four mebibytes ');
  const { error, answer } = await unary(client, 'Unary', request);
  assert.equal(error, null);
  assert.ok(answer?.equals(request));
});

test('a call that fails has its code and its words', async (t) => {
  const { error } = await unary(await start(t), 'Fail', Buffer.alloc(0));
  assert.equal(error?.code, status.FAILED_PRECONDITION);
  assert.equal(error.details, 'not now, 100 %');
  const unknown = await unary(await start(t), 'Lost', Buffer.alloc(0));
  assert.equal(unknown.error?.code, status.UNIMPLEMENTED);
});

test('streams of requests, of answers and of both pass in their order', async (t) => {
  const client = await start(t);
  const collected = await new Promise<Buffer | undefined>((resolve, reject) => {
    const call = client.makeClientStreamRequest(path('Collect'), same, same, (error, answer) => {
      if (error) reject(error);
      else resolve(answer);
    });
    for (const piece of ['a', 'bc', 'def']) call.write(Buffer.from(piece));
    call.end();
  });
  assert.equal(collected?.toString(), 'abcdef');

  const repeat = client.makeServerStreamRequest(path('Repeat'), same, same, Buffer.from('again'));
  let count = 0;
  for await (const piece of repeat as AsyncIterable<Buffer>) {
    assert.equal(piece.toString(), 'again');
    count++;
  }
  assert.equal(count, 100);

  const chat = client.makeBidiStreamRequest(path('Chat'), same, same);
  for (const word of ['one', 'two', 'three']) {
    chat.write(Buffer.from(word));
    const [answer] = (await once(chat, 'data')) as [Buffer];
    assert.equal(answer.toString(), word);
  }
  chat.end();
  await once(chat.resume(), 'end');
});

test('the server hears of a call that is cancelled, and of one whose deadline has come', async (t) => {
  const seen = { cancelled: 0 };
  const client = await start(t, seen);
  const cancelled = new Promise<ServiceError | null>((resolve) => {
    const call = client.makeUnaryRequest(path('Wait'), same, same, Buffer.alloc(0), resolve);
    setTimeout(() => call.cancel(), 50);
  });
  assert.equal((await cancelled)?.code, status.CANCELLED);
  const { error } = await unary(client, 'Wait', Buffer.alloc(0), new Metadata(), {
    deadline: Date.now() + 200,
  });
  assert.equal(error?.code, status.DEADLINE_EXCEEDED);
  const end = Date.now() + 10_000;
  while (seen.cancelled < 2 && Date.now() < end)
    await new Promise((resume) => setTimeout(resume, 10));
  assert.equal(seen.cancelled, 2);
});
