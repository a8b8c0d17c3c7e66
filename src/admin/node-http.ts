// The admin transport on Node's own HTTP server: where no uWebSockets.js binary exists, and for pipes.
import { chmodSync, unlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Page } from '../native.js';
import {
  CONTENT_TYPES,
  MAX_BODY_BYTES,
  REQUEST_HEADERS,
  TOO_LONG_BODY,
  addressText,
  bindFailure,
  replyHeaders,
  endsConnection,
  type AdminEndpoint,
  type AdminReply,
  type AdminRequest,
  type AdminService,
  type AdminTransport,
  type RequestHeader,
  type Stream,
} from './http.js';
import { work } from './turns.js';

const MAX_HEAD_BYTES = 64 * 1024;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

export function nodeHttpTransport(service: AdminService): AdminTransport {
  const counted = new WeakMap<Socket, number>();
  const server = createServer(
    { keepAlive: true, maxHeaderSize: MAX_HEAD_BYTES },
    (incoming, response) => {
      void serve(service, counted, incoming, response);
    },
  );
  server.on('connection', (socket) => {
    service.connectionOpened();
    socket.on('close', () => service.connectionClosed());
  });
  const listen = (endpoint: AdminEndpoint, descriptor?: number): Promise<string> =>
    new Promise((resolve, reject) => {
      server.once('error', (error) => reject(bindFailure(endpoint, error)));
      if (descriptor !== undefined) {
        server.listen({ fd: descriptor }, () => resolve(addressOf(server, endpoint)));
        return;
      }
      if ('pipe' in endpoint) {
        removeStale(endpoint.pipe);
        server.listen(endpoint.pipe, () => {
          if (endpoint.mode !== 0) chmodSync(endpoint.pipe, endpoint.mode);
          resolve(endpoint.pipe);
        });
        return;
      }
      server.listen(endpoint.port, endpoint.host, () => resolve(addressOf(server, endpoint)));
    });
  return {
    listen,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function addressOf(server: Server, endpoint: AdminEndpoint): string {
  if ('pipe' in endpoint) return endpoint.pipe;
  const { address, port } = server.address() as AddressInfo;
  return addressText(address, port);
}

/** A socket that a dead process left behind. */
function removeStale(pipe: string): void {
  try {
    unlinkSync(pipe);
  } catch {
    // There is none.
  }
}

async function serve(
  service: AdminService,
  counted: WeakMap<Socket, number>,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const beganMs = Date.now();
  const { socket } = incoming;
  const writtenBefore = socket.bytesWritten;
  const body = await readBody(incoming);
  if (body === 'gone') {
    service.abandoned(readSince(counted, socket));
    return;
  }
  if (body === 'too long') {
    response.writeHead(413, { 'content-type': CONTENT_TYPES.text }).end(TOO_LONG_BODY);
    return;
  }
  const request: AdminRequest = {
    method: incoming.method ?? 'GET',
    target: incoming.url ?? '/',
    headers: pickHeaders(incoming),
    body: body.toString(),
    beganMs,
    wireBytes: readSince(counted, socket),
  };
  const reply = service.answer(request);
  let sentBytes = 0;
  response.once('close', () => {
    const onWire = socket.bytesWritten - writtenBefore;
    service.finished(request, reply, {
      ofBody: sentBytes,
      onWire,
      isCut: !response.writableFinished,
    });
    reply.then?.();
  });
  response.statusCode = reply.status ?? 200;
  // That it is kept open goes without saying.
  response.removeHeader('connection');
  // Its own is spelled with a capital.
  response.sendDate = false;
  response.setHeader('date', new Date().toUTCString());
  for (const [name, value] of replyHeaders(reply)) response.appendHeader(name, value);
  if (endsConnection(request, reply)) response.setHeader('connection', 'close');
  if (isChunked(reply)) response.setHeader('transfer-encoding', 'chunked');
  if (request.method === 'HEAD') {
    response.end();
  } else if (typeof reply.body === 'string') {
    sentBytes = Buffer.byteLength(reply.body);
    response.end(reply.body);
  } else if ('listen' in reply.body) {
    writeStream(response, reply.body, (bytes) => (sentBytes += bytes));
  } else {
    writePage(response, reply.body, (bytes) => (sentBytes += bytes));
  }
}

/** A stream is framed as it wants to be. */
function isChunked({ body, isBare }: AdminReply): boolean {
  if (typeof body === 'string') return body !== '' && !isBare;
  return !('listen' in body);
}

/** What came on a connection since it was asked for last. */
function readSince(counted: WeakMap<Socket, number>, socket: Socket): number {
  const before = counted.get(socket) ?? 0;
  counted.set(socket, socket.bytesRead);
  return socket.bytesRead - before;
}

/** Without chunks its end is that of the connection, as a browser's event source understands best. */
function writeStream(
  response: ServerResponse,
  stream: Stream,
  count: (bytes: number) => void,
): void {
  if (!stream.isChunked) {
    response.shouldKeepAlive = false;
    response.useChunkedEncodingByDefault = false;
  }
  const write = (piece: Buffer): void => {
    if (response.writableLength > MAX_WAITING_BYTES) {
      // Who does not read is sent away, not waited for.
      response.destroy();
      return;
    }
    count(piece.length);
    response.write(piece);
  };
  // Whoever reads the head may count on what was asked for.
  const leave = stream.listen(write, () => response.end());
  response.once('close', leave);
  response.flushHeaders();
  // Who has left before now does not leave once more.
  if (response.closed) leave();
}

function pickHeaders(incoming: IncomingMessage): Record<RequestHeader, string> {
  const entries = REQUEST_HEADERS.map((name) => [name, String(incoming.headers[name] ?? '')]);
  return Object.fromEntries(entries) as Record<RequestHeader, string>;
}

async function readBody(incoming: IncomingMessage): Promise<Buffer | 'too long' | 'gone'> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      else chunks.length = 0;
    }
  } catch {
    return 'gone';
  }
  return size > MAX_BODY_BYTES ? 'too long' : Buffer.concat(chunks);
}

/** One piece at a time, so that a long page never holds up the control thread. */
function writePage(response: ServerResponse, page: Page, count: (bytes: number) => void): void {
  const step = (): boolean => {
    const piece = response.destroyed ? null : page.next();
    if (piece === null) {
      response.end();
      return false;
    }
    count(piece.length);
    if (response.write(piece)) return true;
    response.once('drain', () => work(step));
    return false;
  };
  work(step);
}
