// The admin server's HTTP, on Node's own server.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { guarded } from '../../base/bugs.js';
import { Connection, type ParseError } from './connection.js';
import { ADMIN_REQUEST, type AdminService } from './http.js';

/** Of a request, as the real server limits it. */
const MAX_HEAD_BYTES = 60 * 1024;
/** Whoever scrapes comes back on the connection that it has. */
const IDLE_TIMEOUT_MS = 3_600_000;

export interface AdminTransport {
  /** Takes the descriptor of a socket that listens. */
  listen(socket: { readonly fd: number }): Promise<void>;
  /** Ends all connections. */
  close(): void;
}

export function nodeHttpTransport(service: AdminService): AdminTransport {
  const server = createServer({
    maxHeaderSize: MAX_HEAD_BYTES,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    requireHostHeader: false,
  });
  let connectionCount = 0;
  const connections = new WeakMap<Socket, Connection>();
  const accept = (socket: Socket): void => {
    if (!service.connectionOpened()) {
      socket.destroy();
      return;
    }
    connections.set(socket, new Connection(service, socket, connectionCount));
    connectionCount += 1;
  };
  server.on('connection', guarded(ADMIN_REQUEST, accept));
  /** Only this connection ends where its server fails. */
  const on = (socket: Socket, act: (connection: Connection) => void): void => {
    const connection = connections.get(socket);
    const destroy = (): void => void socket.destroy();
    if (connection) guarded(ADMIN_REQUEST, () => act(connection), destroy)();
  };
  const serve = (incoming: IncomingMessage, response: ServerResponse): void =>
    on(incoming.socket, (connection) => connection.serve(incoming, response));
  server.on('request', serve);
  // Its client sends what it likes: that is none of this server's business.
  server.on('checkExpectation', serve);
  server.on('connect', ({ socket }: IncomingMessage) =>
    on(socket, (connection) => connection.refuseTunnel()),
  );
  server.on('clientError', (error: ParseError, socket: Socket) =>
    on(socket, (connection) => connection.fail(error)),
  );
  return {
    listen: (socket) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(socket, resolve);
      }),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
