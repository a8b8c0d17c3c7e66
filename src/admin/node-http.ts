// The admin transport on Node's own HTTP server: where no uWebSockets.js binary exists, and for pipes.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '../native.js';
import { COMMON_HEADERS, CONTENT_TYPES, type AdminReply, type AdminTransport, type TransportOptions } from './http.js';

export function nodeHttpTransport(options: TransportOptions): AdminTransport {
  const server = createServer({ keepAlive: true }, (request, response) => {
    const url = new URL(request.url ?? '/', 'http://admin');
    const reply = options.handle(
      { method: request.method ?? 'GET', path: url.pathname, query: url.searchParams },
      { host: request.headers.host ?? '', origin: request.headers.origin ?? '' },
    );
    request.resume();
    options.counts.answered(reply.status ?? 200);
    send(response, reply);
  });
  server.on('connection', (socket) => {
    options.counts.connectionOpened();
    socket.on('close', () => options.counts.connectionClosed());
  });
  return {
    listen: (endpoint) =>
      new Promise((resolve, reject) => {
        server.once('error', (error: NodeJS.ErrnoException) => {
          const where = 'pipe' in endpoint ? endpoint.pipe : `${endpoint.host}:${endpoint.port}`;
          const why = error.code === 'EADDRINUSE' ? 'Address already in use' : error.message;
          reject(new Error(`cannot bind '${where}': ${why}`));
        });
        const bound = (): void => {
          if ('pipe' in endpoint) {
            resolve(endpoint.pipe);
            return;
          }
          const { address, port, family } = server.address() as AddressInfo;
          resolve(family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`);
        };
        if ('pipe' in endpoint) server.listen(endpoint.pipe, bound);
        else server.listen(endpoint.port, endpoint.host, bound);
      }),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function send(response: ServerResponse, reply: AdminReply): void {
  response.statusCode = reply.status ?? 200;
  response.setHeader('content-type', CONTENT_TYPES[reply.type ?? 'text']);
  for (const [name, value] of COMMON_HEADERS) response.setHeader(name, value);
  if (reply.then) response.on('finish', reply.then);
  if (typeof reply.body === 'string') {
    response.end(reply.body);
    return;
  }
  pump(response, reply.body);
}

/** One piece a turn, so that a long page never holds up the control thread. */
function pump(response: ServerResponse, page: Page): void {
  const piece = response.destroyed ? null : page.next();
  if (piece === null) {
    response.end();
  } else if (response.write(piece)) {
    setImmediate(() => pump(response, page));
  } else {
    response.once('drain', () => pump(response, page));
    response.once('close', () => response.removeAllListeners('drain'));
  }
}
