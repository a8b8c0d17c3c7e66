// Clients that do everything wrong. What becomes of them is nobody's concern, as long as something does.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectSecurely } from 'node:tls';
import { RawBytes } from '../integration/support/raw-bytes.js';
import { open, reset, type Exchange, type Place } from './good-clients.js';
import { below, pick, randomBytes, type Random } from './random.js';

/** The proxy's own limits (setting.ts) end everything within 5 s. */
const LIMIT_MS = 20_000;

const CHUNK = `5\r\nhello\r\n`;
const REQUESTS = [
  'GET /good/size/300000 HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET /good/mirrored/chunks/300000 HTTP/1.1\r\nhost: a\r\n\r\n',
  `POST /good/echo HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n${'x'.repeat(500)}`,
  `POST /good/mirrored HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n${CHUNK.repeat(9)}`,
  `POST /bad/retried HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n${CHUNK}0\r\n\r\n`,
  'GET /bad HTTP/1.1\r\nhost: a\r\n\r\nGET /good/size/100 HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET /secure/size/70000 HTTP/1.1\r\nhost: a\r\n\r\nGET /direct HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET /good/size/9 HTTP/1.1\r\nhost: a\r\nx-envoy-fault-abort-request: 503\r\n\r\n',
  'GET /good/size/9 HTTP/1.1\r\nhost: a\r\nx-envoy-fault-delay-request: 50\r\n\r\n',
  'GET /good/size/5000 HTTP/1.1\r\nhost: a\r\nx-envoy-fault-throughput-response: 20\r\n\r\n',
  'OPTIONS /good HTTP/1.1\r\nhost: a\r\norigin: http://b\r\naccess-control-request-method: PUT\r\n\r\n',
  'GET /none HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
];

function leave(socket: Socket, random: Random): void {
  const how = below(random, 3);
  if (how === 0) socket.destroy();
  else if (how === 1) reset(socket);
  else {
    socket.end();
    setTimeout(() => socket.destroy(), below(random, 100));
  }
}

/** Cuts a request or its answer somewhere: before a handshake has ended, within a head, within a body. */
export function cuttingClient(places: readonly Place[]): Exchange {
  return async (random) => {
    const socket = open(pick(random, places));
    const bytes = Buffer.from(pick(random, REQUESTS), 'latin1');
    socket.write(
      bytes.subarray(0, below(random, 2) === 0 ? bytes.length : below(random, bytes.length)),
    );
    if (below(random, 2) === 0) socket.resume();
    await sleep(below(random, 40));
    leave(socket, random);
  };
}

/** A byte at a time, or an answer that is read late and then thrown away. */
export function slowClient(places: readonly Place[]): Exchange {
  return async (random) => {
    const socket = open(pick(random, places));
    const bytes = Buffer.from(pick(random, REQUESTS), 'latin1');
    for (let at = 0; at < bytes.length && !socket.destroyed;) {
      const count = 1 + below(random, 30);
      socket.write(bytes.subarray(at, at + count));
      at += count;
      await sleep(below(random, 10));
    }
    await sleep(below(random, 300));
    socket.resume();
    await sleep(below(random, 50));
    leave(socket, random);
  };
}

/** What a client says first of all of a handshake. */
async function clientHello(): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connectSecurely({ port, host: '127.0.0.1', servername: 'server.test' });
  client.on('error', () => undefined);
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [hello] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return hello;
}

const PROXY_V2 = Buffer.from(
  '\r\n\r\n\0\r\nQUIT\n!\u0011\0\u000c\u007f\0\0\u0001\u007f\0\0\u0001\0\u0001\0\u0002',
  'latin1',
);

/** Bytes that nobody asked for: handshakes, PROXY headers and requests with flaws, and mere noise. */
export async function garbageClient(places: readonly Place[]): Promise<Exchange> {
  const hello = await clientHello();
  return async (random) => {
    const { port } = pick(random, places);
    const socket = open({ port, isSecure: false }).resume();
    for (const part of garbage(hello, random)) {
      socket.write(part);
      if (below(random, 3) === 0) await sleep(below(random, 10));
    }
    await sleep(below(random, 60));
    leave(socket, random);
  };
}

function garbage(hello: Buffer, random: Random): readonly Buffer[] {
  const kind = below(random, 5);
  if (kind === 0) return [randomBytes(random, below(random, 2000))];
  if (kind <= 2) return new RawBytes(random).next();
  const bytes = Buffer.from(kind === 3 ? hello : PROXY_V2);
  for (let left = below(random, 4); left > 0; left -= 1) {
    bytes[below(random, bytes.length)] = below(random, 256);
  }
  const at = below(random, bytes.length);
  return [bytes.subarray(0, at), bytes.subarray(at), randomBytes(random, below(random, 50))];
}

/** Whatever happens to these requests, they are answered, or their connection ends. */
export function unluckyClient(places: readonly Place[]): Exchange {
  const paths = [
    ...['/bad/retried', '/bad/hedged', '/bad', '/bad2', '/bad2/retried'],
    ...['/other', '/direct', '/none'],
  ];
  return async (random) => {
    const path = pick(random, paths);
    const socket = open(pick(random, places));
    let hasAnswer = false;
    const timer = setTimeout(() => socket.destroy(new Error('in time')), LIMIT_MS);
    const isOver = new Promise<void>((resolve) => {
      socket.on('data', () => {
        hasAnswer = true;
      });
      socket.on('close', () => resolve()).on('end', () => socket.end());
    });
    let failure = '';
    socket.on('error', (error) => (failure = error.message));
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
    await isOver;
    clearTimeout(timer);
    if (!hasAnswer) throw new Error(`${path} has no answer ${failure}`);
  };
}
