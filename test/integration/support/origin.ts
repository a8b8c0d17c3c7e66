// The plainest host, which says the same to everybody, and where those of tests listen.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

const IDLE_MS = 60_000;

/** Resolves with its port on 127.0.0.1; it ends with the test. Idle connections stay longer than any test. */
export async function startOrigin(t: TestContext, text: string): Promise<number> {
  const server = createServer((_, response) => response.end(text));
  server.keepAliveTimeout = IDLE_MS;
  return listen(t, server);
}

/** Resolves with its port on 127.0.0.1; it ends with the test. */
export async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
