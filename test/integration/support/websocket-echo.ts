// A WebSocket server that says back what it is told: uWebSockets.js, as the admin interface loads it.
import type { TestContext } from 'node:test';
import { loadUws } from '../../../src/admin/uws/uws.js';

/** What of it is used here and not there: its package has no types of its own. */
interface EchoSocket {
  send(message: ArrayBuffer, isBinary: boolean): number;
}
interface EchoBehavior {
  readonly maxPayloadLength: number;
  readonly maxBackpressure: number;
  readonly message: (socket: EchoSocket, message: ArrayBuffer, isBinary: boolean) => void;
}
interface EchoApp {
  ws(pattern: string, behavior: EchoBehavior): EchoApp;
  listen(host: string, port: number, listening: (token: unknown) => void): EchoApp;
  close(): EchoApp;
}
interface EchoPackage {
  App(): EchoApp;
  us_socket_local_port(token: unknown): number;
}

/** Its port; undefined where no binary fits. */
export async function startEchoServer(t: TestContext): Promise<number | undefined> {
  const uws = loadUws() as unknown as EchoPackage | undefined;
  if (!uws) return undefined;
  const app = uws.App().ws('/*', {
    maxPayloadLength: 2 << 20,
    maxBackpressure: 64 << 20,
    message: (socket, message, isBinary) => {
      socket.send(message, isBinary);
    },
  });
  const token = await new Promise<unknown>((resolve) => {
    app.listen('127.0.0.1', 0, resolve);
  });
  if (token === false) throw new Error('there is no port to listen on');
  t.after(() => app.close());
  return uws.us_socket_local_port(token);
}
