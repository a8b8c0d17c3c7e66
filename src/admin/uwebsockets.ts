// The admin transport on uWebSockets.js. Its binary is an optional dependency; which of them loads
// depends on Node and on the C library. A handler that threw would end the process: nothing of
// `service` throws, and writes are guarded by `isGone`.
import { createRequire } from 'node:module';
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
  type AdminReply,
  type AdminRequest,
  type AdminService,
  type AdminTransport,
  type RequestHeader,
} from './http.js';
import { work } from './turns.js';

/** The parts of its interface that are used here. */
interface UwsResponse {
  cork(work: () => void): void;
  writeStatus(status: string): void;
  writeHeader(name: string, value: string): void;
  write(chunk: Uint8Array): boolean;
  end(body?: string, closesConnection?: boolean): void;
  /** Without a length it sends none, and leaves the connection open. */
  endWithoutBody(lengthBytes?: number, closesConnection?: boolean): void;
  close(): void;
  onAborted(work: () => void): void;
  onData(work: (chunk: ArrayBuffer, isLast: boolean) => void): void;
  onWritable(work: () => boolean): void;
}
interface UwsRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  getHeader(name: string): string;
  forEach(work: (name: string, value: string) => void): void;
}
interface UwsApp {
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp;
  filter(handler: (response: UwsResponse, change: number) => void): UwsApp;
  listen(host: string, port: number, options: number, done: (socket: unknown) => void): UwsApp;
  close(): void;
}
interface Uws {
  App(): UwsApp;
  us_socket_local_port(socket: unknown): number;
  LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  _cfg?(option: string): void;
}

/** Of the statuses that the admin server answers with. */
const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Payload Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
};
/** The packages by which it may be installed for each version of Node, the newest first. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  20: ['uWebSockets.js'],
  22: ['uws-next-linux-x64-22', 'uws-linux-x64-22'],
  24: ['uws-next-linux-x64-24'],
};
/** Request heads are limited by an environment variable that it reads when it is loaded. */
const MAX_HEAD_VARIABLE = 'UWS_HTTP_MAX_HEADERS_SIZE';
const MAX_HEAD_BYTES = '65536';
/** Of the header that it adds by itself. */
const DATE_BYTES = 'Date: Sat, 21 Nov 2026 09:00:00 GMT\r\n'.length;
const CHUNKED_BYTES = 'Transfer-Encoding: chunked\r\n\r\n'.length;
const EMPTY_BYTES = 'Content-Length: 0\r\n\r\n'.length;
const LAST_CHUNK_BYTES = '0\r\n\r\n'.length;
const CLOSE = ['connection', 'close'] as const;

const chunkBytes = (bytes: number): number => bytes + bytes.toString(16).length + '\r\n\r\n'.length;

/** Switches its own `uWebSockets` response header off. */
const NO_OWN_HEADER = '999999990007';

function load(): Uws | undefined {
  process.env[MAX_HEAD_VARIABLE] ??= MAX_HEAD_BYTES;
  const [major = ''] = process.versions.node.split('.');
  for (const name of PACKAGES[major] ?? []) {
    try {
      const uws = createRequire(import.meta.url)(name) as Uws;
      uws._cfg?.(NO_OWN_HEADER);
      return uws;
    } catch {
      // It is not installed, or for another C library.
    }
  }
  return undefined;
}

/** Undefined where no binary fits. */
export function uwebsocketsTransport(service: AdminService): AdminTransport | undefined {
  const uws = load();
  if (!uws) return undefined;
  const app = uws.App();
  app.filter((_, change) => {
    if (change > 0) service.connectionOpened();
    else service.connectionClosed();
  });
  app.any('/*', (response, request) => serve(service, response, request));
  return {
    listen: (endpoint) =>
      new Promise((resolve, reject) => {
        if ('pipe' in endpoint) throw new Error('pipes are served by node:http');
        const { host, port } = endpoint;
        app.listen(host, port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
          if (socket) resolve(addressText(host, uws.us_socket_local_port(socket)));
          else void whyNot(endpoint).then(reject);
        });
      }),
    close: () => app.close(),
  };
}

/** uWebSockets.js does not say why it cannot bind, but Node does. */
async function whyNot(endpoint: { host: string; port: number }): Promise<Error> {
  const { createServer } = await import('node:net');
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', (error) => resolve(bindFailure(endpoint, error)));
    probe.listen(endpoint, () => {
      probe.close();
      resolve(new Error(`cannot bind '${addressText(endpoint.host, endpoint.port)}'`));
    });
  });
}

function serve(service: AdminService, response: UwsResponse, incoming: UwsRequest): void {
  const query = incoming.getQuery();
  const head = {
    method: incoming.getCaseSensitiveMethod(),
    target: query ? `${incoming.getUrl()}?${query}` : incoming.getUrl(),
    headers: pickHeaders(incoming),
    beganMs: Date.now(),
    headBytes: headBytes(incoming),
  };
  const exchange = new Exchange(service, response, head.headBytes);
  // Its callback comes at once where there is no body.
  const chunks: Buffer[] = [];
  let size = 0;
  response.onData((chunk, isLast) => {
    size += chunk.byteLength;
    exchange.receivedBytes += chunk.byteLength;
    // The memory is lent for this call only.
    if (size <= MAX_BODY_BYTES) chunks.push(Buffer.from(new Uint8Array(chunk)));
    else chunks.length = 0;
    if (!isLast) return;
    if (size > MAX_BODY_BYTES) {
      response.cork(() => {
        response.writeStatus(`413 ${REASONS[413]}`);
        response.writeHeader('content-type', CONTENT_TYPES.text);
        response.end(TOO_LONG_BODY);
      });
      return;
    }
    const body = Buffer.concat(chunks).toString();
    exchange.answer({ ...head, body, wireBytes: exchange.receivedBytes });
  });
}

function pickHeaders(incoming: UwsRequest): Record<RequestHeader, string> {
  const entries = REQUEST_HEADERS.map((name) => [name, incoming.getHeader(name)]);
  return Object.fromEntries(entries) as Record<RequestHeader, string>;
}

/** Of a head, as clients usually write it: it is not kept. */
function headBytes(incoming: UwsRequest): number {
  const query = incoming.getQuery();
  const target = incoming.getUrl().length + (query === undefined ? 0 : query.length + 1);
  let bytes = incoming.getCaseSensitiveMethod().length + target + '  HTTP/1.1\r\n\r\n'.length;
  incoming.forEach((name, value) => (bytes += name.length + value.length + ': \r\n'.length));
  return bytes;
}

/** A request and its answer. After an abort the response must not be touched. */
class Exchange {
  /** Of the request, until it is answered. */
  receivedBytes: number;
  readonly #service: AdminService;
  readonly #response: UwsResponse;
  #onEnd: (() => void) | undefined;
  #isAnswered = false;
  #isGone = false;
  #sentBytes = 0;
  #wireBytes = 0;

  constructor(service: AdminService, response: UwsResponse, headBytes: number) {
    this.receivedBytes = headBytes;
    this.#service = service;
    this.#response = response;
    response.onAborted(() => {
      this.#isGone = true;
      if (!this.#isAnswered) service.abandoned(this.receivedBytes);
      this.#end();
    });
  }

  answer(request: AdminRequest): void {
    this.#isAnswered = true;
    const reply = this.#service.answer(request);
    // Who has the whole answer finds it counted and logged. What comes after it waits for the turn's
    // end: it may be the end of the server.
    this.#onEnd = () => {
      const sent = { ofBody: this.#sentBytes, onWire: this.#wireBytes, isCut: this.#isGone };
      this.#service.finished(request, reply, sent);
      if (reply.then) setImmediate(reply.then);
    };
    const { body } = reply;
    const hasBody = request.method !== 'HEAD';
    this.#response.cork(() => {
      this.#writeHead(request, reply);
      if (!hasBody) this.#endHead(endsConnection(request, reply));
      else if (typeof body === 'string') this.#writeText(body, reply.isBare ?? false);
    });
    if (!hasBody || typeof body === 'string') return;
    if ('listen' in body) {
      // It sends no head before there is something to follow it, nor ends an answer with its
      // connection: where there are streams, node:http serves.
      this.#response.close();
    } else {
      this.#writePage(body);
    }
  }

  /** What it frames itself is closed only where it is told a length: with another it would wait. */
  #endHead(closes: boolean): void {
    if (closes) {
      this.#wireBytes += EMPTY_BYTES;
      this.#end();
      this.#response.endWithoutBody(0, true);
      return;
    }
    this.#wireBytes += CHUNKED_BYTES;
    this.#end();
    this.#response.writeHeader('transfer-encoding', 'chunked');
    this.#response.endWithoutBody();
  }

  #writeText(text: string, hasLength: boolean): void {
    const bytes = Buffer.from(text);
    this.#sentBytes = bytes.length;
    if (hasLength || bytes.length === 0) {
      this.#wireBytes += `Content-Length: ${bytes.length}\r\n\r\n`.length + bytes.length;
      this.#end();
      this.#response.end(text, hasLength);
      return;
    }
    this.#wireBytes += CHUNKED_BYTES + chunkBytes(bytes.length) + LAST_CHUNK_BYTES;
    this.#end();
    this.#response.write(bytes);
    this.#response.end();
  }

  #writeHead(request: AdminRequest, reply: AdminReply): void {
    const status = reply.status ?? 200;
    const reason = `${status} ${REASONS[status] ?? 'Error'}`;
    this.#response.writeStatus(reason);
    this.#wireBytes = `HTTP/1.1 ${reason}\r\n`.length + DATE_BYTES;
    // Where it is told to close, before a body, it says so itself.
    const saysClose =
      endsConnection(request, reply) && (!reply.isBare || request.method === 'HEAD');
    const headers = replyHeaders(reply);
    for (const [name, value] of saysClose ? [...headers, CLOSE] : headers) {
      this.#response.writeHeader(name, value);
      this.#wireBytes += name.length + value.length + ': \r\n'.length;
    }
  }

  /** One piece at a time, so that a long page never holds up the control thread. */
  #writePage(page: Page): void {
    let isBlocked = false;
    const step = (): boolean => {
      if (this.#isGone) return false;
      const piece = page.next();
      if (piece === null) {
        this.#wireBytes += CHUNKED_BYTES + LAST_CHUNK_BYTES;
        this.#end();
        this.#response.cork(() => this.#response.end());
        return false;
      }
      this.#response.cork(() => (isBlocked = !this.#response.write(piece)));
      this.#sentBytes += piece.length;
      this.#wireBytes += chunkBytes(piece.length);
      return !isBlocked;
    };
    this.#response.onWritable(() => {
      if (isBlocked) {
        isBlocked = false;
        work(step);
      }
      return true;
    });
    work(step);
  }

  #end(): void {
    this.#onEnd?.();
    this.#onEnd = undefined;
  }
}
