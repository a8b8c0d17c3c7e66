// Who stands behind the proxy: an origin that is always right, and others that are not.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer as createSecureServer } from 'node:https';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { SERVER_CERTIFICATE, SERVER_KEY } from '../integration/support/certificates.js';
import { below, type Random } from './random.js';

const PATTERN = Buffer.from('the quick brown fox jumps over the lazy dog, again and again; ');

/** Bytes that tell where they are: those of a body of this length. */
export function bodyOf(length: number): Buffer {
  const body = Buffer.alloc(length);
  for (let at = 0; at < length; at += PATTERN.length) PATTERN.copy(body, at);
  return body;
}

/** Its port. Connections end with the story. */
export async function listening(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** What both protocols' requests and responses have. */
type Asked = Readable & { readonly url?: string | undefined };
type Answered = Writable & { setHeader(name: string, value: number): unknown };

/** /…/size/N: a body of N bytes, with its length; /…/chunks/N: in chunks; anything else: what came. */
function answer(request: Asked, response: Answered): void {
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  const [, kind, size] = /\/(size|chunks)\/(\d+)/.exec(request.url ?? '') ?? [];
  if (kind === undefined) {
    request.pipe(response);
    return;
  }
  request.resume();
  const body = bodyOf(Number(size));
  if (kind === 'size') {
    response.setHeader('content-length', body.length);
    response.end(body);
    return;
  }
  for (let at = 0; at < body.length; at += 9000) response.write(body.subarray(at, at + 9000));
  response.end();
}

/** Never closes a connection that is in use or idle, and never fails. */
export function startGoodOrigin(t: TestContext): Promise<number> {
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, answer);
  return listening(t, server);
}

export function startSecureOrigin(t: TestContext): Promise<number> {
  const options = { cert: SERVER_CERTIFICATE, key: SERVER_KEY, keepAliveTimeout: 0 };
  return listening(t, createSecureServer({ ...options, requestTimeout: 0 }, answer));
}

/** The same over HTTP/2 in the clear. */
export function startHttp2Origin(t: TestContext): Promise<number> {
  return listening(t, createHttp2Server(answer));
}

/** Sends back what comes, and ends when its peer has. */
export function startEchoOrigin(t: TestContext): Promise<number> {
  return listening(
    t,
    createTcpServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)),
  );
}

const ANSWERS = [
  'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello',
  'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
  'HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-trailer: a\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 200 OK\r\n\r\nuntil the end',
  'HTTP/1.0 200 OK\r\n\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello and more than that',
  'SSH-2.0-OpenSSH_9.2\r\n',
  '\u0000\u0001\u0002\u0003',
];

const STALL_MS = 2000;

/** Answers some requests well, others never, late, in pieces or with nonsense, and often cuts them. */
export function startBadOrigin(t: TestContext, random: Random): Promise<number> {
  const act = (socket: Socket): void => {
    if (socket.destroyed) return;
    const choice = below(random, 20);
    if (choice === 0) {
      setTimeout(() => socket.destroy(), STALL_MS);
      return;
    }
    if (choice <= 3) {
      socket.resetAndDestroy();
      return;
    }
    const bytes = Buffer.from(ANSWERS[below(random, ANSWERS.length)] ?? '', 'latin1');
    const cut = choice <= 8 ? below(random, bytes.length) : bytes.length;
    socket.write(bytes.subarray(0, cut));
    if (choice === 4) socket.end();
    else if (choice === 5) socket.resetAndDestroy();
    else if (cut < bytes.length) setTimeout(() => socket.write(bytes.subarray(cut)), 20);
  };
  const server = createTcpServer({ noDelay: true }, (socket) => {
    if (below(random, 10) === 0) socket.resetAndDestroy();
    socket.on('data', () => {
      const pause = below(random, 4) === 0 ? below(random, 200) : 0;
      if (pause === 0) act(socket);
      else setTimeout(() => act(socket), pause);
    });
  });
  return listening(t, server);
}
