// The admin server's HTTP by Node: for pipes, and where no binary of uWebSockets.js fits.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { guarded } from '../../base/bugs.js';
import { startTimeout } from '../../base/timers.js';
import { ADMIN_REQUEST, type AdminService } from '../http/http.js';
import { GRACE_MS, type AdminTransport } from '../http/transport.js';
import { Connection, type ParseError } from './connection.js';
import { Gate } from './gate.js';

/** Of a request, as the real server limits it. */
const MAX_HEAD_BYTES = 60 * 1024;
/** Whoever scrapes comes back on the connection that it has. */
const IDLE_TIMEOUT_MS = 3_600_000;

export function nodeHttpTransport(service: AdminService): AdminTransport {
  const server = createServer({
    maxHeaderSize: MAX_HEAD_BYTES,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    requireHostHeader: false,
  });
  const connections = new Map<Duplex, Connection>();
  /** Only this connection ends where its server fails. */
  const on = (gate: Duplex, act: (connection: Connection) => void): void => {
    const connection = connections.get(gate);
    const destroy = (): void => void gate.destroy();
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
  server.on('clientError', (error: ParseError, gate: Duplex) =>
    on(gate, (connection) => connection.fail(error)),
  );
  return {
    name: 'node:http',
    serve: (accepted) => {
      const gate = new Gate(new Socket({ fd: accepted.fd, readable: true, writable: true }));
      connections.set(gate, new Connection(service, gate, accepted));
      gate.once('close', () => connections.delete(gate));
      server.emit('connection', gate);
    },
    close: () => {
      for (const [gate, connection] of connections) if (!connection.leave()) gate.destroy();
      startTimeout(() => {
        for (const gate of connections.keys()) gate.destroy();
      }, GRACE_MS).unref();
    },
  };
}
