// HTTP/1.1 to the hosts of a cluster, for REST: by undici, over sockets that are dialled as those of gRPC
// services.
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type * as Undici from 'undici';
import { dial } from '../grpc/dial.js';
import type { ControlHost } from '../native.js';
import type { RestSource } from '../plan/sources.js';

export interface RestAnswer {
  readonly status: number;
  readonly text: string;
}

/** An answer that is longer is none. */
const LONGEST_BYTES = 256 * 2 ** 20;

let loaded: typeof Undici | undefined;

/** On a connection of its own. Undefined: there is no whole answer within the time. */
export async function post(
  { cluster, requestTimeoutMs }: RestSource,
  host: ControlHost | undefined,
  path: string,
  body: string,
): Promise<RestAnswer | undefined> {
  if (!host) return undefined;
  loaded ??= createRequire(import.meta.url)('undici') as typeof Undici;
  const client = new loaded.Client('http://control-plane', {
    maxResponseSize: LONGEST_BYTES,
    connect: (_: unknown, done: (error: Error | null, socket: Socket | null) => void) => {
      dial(cluster, host, {
        onOpen: (socket) => done(null, socket),
        onFailure: ({ message }) => done(new Error(message), null),
      });
    },
  } as Undici.Client.Options);
  try {
    const answer = await client.request({
      method: 'POST',
      path,
      headers: { host: cluster.name, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  } catch {
    return undefined;
  } finally {
    await client.destroy();
  }
}
