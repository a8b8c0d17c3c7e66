// The admin transport on uWebSockets.js. Its binary is an optional dependency: which of them loads
// depends on Node and on the C library. Every handler is wrapped: a throw would end the process.
import { createRequire } from 'node:module';
import type { Page } from '../native.js';
import { COMMON_HEADERS, CONTENT_TYPES, type AdminReply, type AdminTransport, type TransportOptions } from './http.js';
import { STATUS_CODES } from 'node:http';

/** The parts of its interface that are used here. */
interface UwsResponse {
  cork(work: () => void): void;
  writeStatus(status: string): UwsResponse;
  writeHeader(name: string, value: string): UwsResponse;
  write(chunk: string | Uint8Array): boolean;
  end(body?: string | Uint8Array): UwsResponse;
  onAborted(work: () => void): void;
  onWritable(work: () => boolean): void;
}
interface UwsRequest {
  getMethod(): string;
  getUrl(): string;
  getQuery(): string;
  getHeader(name: string): string;
}
interface UwsApp {
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp;
  filter(handler: (response: UwsResponse, count: number) => void): UwsApp;
  listen(host: string, port: number, options: number, done: (socket: unknown) => void): UwsApp;
  close(): void;
}
interface Uws {
  App(): UwsApp;
  us_socket_local_port(socket: unknown): number;
  us_listen_socket_close(socket: unknown): void;
  LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  _cfg?(option: string): void;
}

const PACKAGES = ['uws-next-linux-x64-24', 'uws-next-linux-x64-22', 'uws-linux-x64-22', 'uWebSockets.js'];
/** Its request heads are limited by this variable, which it reads when it is loaded. */
const MAX_HEAD_BYTES = '65536';

function load(): Uws | undefined {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= MAX_HEAD_BYTES;
  const require = createRequire(import.meta.url);
  for (const name of PACKAGES) {
    try {
      const uws = require(name) as Uws;
      // Without the "uWebSockets" header.
      uws._cfg?.('999999990007');
      return uws;
    } catch {
      // Another Node, or another C library.
    }
  }
  return undefined;
}

/** Undefined where no binary fits. */
export function uwebsocketsTransport(options: TransportOptions): AdminTransport | undefined {
  const uws = load();
  if (!uws) return undefined;
  let listening: unknown;
  const app = uws.App();
  app.filter((_, count) => {
    if (count > 0) options.counts.connectionOpened();
    else options.counts.connectionClosed();
  });
  app.any('/*', (response, request) => {
    let reply: AdminReply;
    try {
      const query = new URLSearchParams(request.getQuery() ?? '');
      reply = options.handle(
        { method: request.getMethod().toUpperCase(), path: request.getUrl(), query },
        { host: request.getHeader('host'), origin: request.getHeader('origin') },
      );
    } catch (error) {
      reply = { status: 500, body: `internal error: ${error instanceof Error ? error.message : String(error)}\n` };
    }
    options.counts.answered(reply.status ?? 200);
    send(response, reply);
  });
  return {
    listen: (endpoint) =>
      new Promise((resolve, reject) => {
        if ('pipe' in endpoint) {
          reject(new Error('pipes are served by node:http'));
          return;
        }
        const { host, port } = endpoint;
        app.listen(host, port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT ?? 1, (socket) => {
          if (!socket) {
            reject(new Error(`cannot bind '${host}:${port}': Address already in use`));
            return;
          }
          listening = socket;
          const bound = uws.us_socket_local_port(socket);
          resolve(host.includes(':') ? `[${host}]:${bound}` : `${host}:${bound}`);
        });
      }),
    close: () => {
      if (listening) app.close();
      listening = undefined;
    },
  };
}

function send(response: UwsResponse, reply: AdminReply): void {
  let gone = false;
  response.onAborted(() => {
    gone = true;
  });
  const status = reply.status ?? 200;
  response.cork(() => {
    response.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Unknown'}`);
    response.writeHeader('content-type', CONTENT_TYPES[reply.type ?? 'text']);
    for (const [name, value] of COMMON_HEADERS) response.writeHeader(name, value);
    if (typeof reply.body === 'string') response.end(reply.body);
  });
  if (typeof reply.body === 'string') {
    if (reply.then) setImmediate(reply.then);
    return;
  }
  pump(response, reply.body, () => gone);
}

function pump(response: UwsResponse, page: Page, isGone: () => boolean): void {
  const step = (): void => {
    if (isGone()) return;
    const piece = page.next();
    if (piece === null) {
      response.cork(() => response.end());
      return;
    }
    let ready = true;
    response.cork(() => {
      ready = response.write(piece);
    });
    if (ready) {
      setImmediate(step);
      return;
    }
    response.onWritable(() => {
      step();
      return true;
    });
  };
  step();
}
