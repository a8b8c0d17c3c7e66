// Clients that go on until they are told to stop, or their story ends, and note everything that goes
// wrong: they do not retry, so that nothing is hidden.
import { Agent, request, type IncomingMessage } from 'node:http';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Sent {
  requests: number;
  connections: number;
  readonly failures: string[];
  readonly latenciesMs: number[];
}

export interface Load {
  /** Lets what is under way finish. */
  stop(): Promise<Sent>;
}

interface Exchange {
  readonly method?: string;
  readonly path: string;
  /** A body of so many parts, and the pause between two. */
  readonly parts?: number;
  readonly pauseMs?: number;
  readonly expected: (body: Buffer) => boolean;
}

const PART = Buffer.alloc(4096, 'x');

/** A client per connection that it keeps as long as the proxy does. */
export function keepAliveLoad(
  t: TestContext,
  port: number,
  clients: number,
  exchange: Exchange,
): Load {
  return run(t, clients, exchange, port, () => new Agent({ keepAlive: true, maxSockets: 1 }));
}

/** A connection per request. */
export function connectionLoad(
  t: TestContext,
  port: number,
  clients: number,
  exchange: Exchange,
): Load {
  return run(t, clients, exchange, port, () => new Agent({ keepAlive: false }));
}

function run(
  t: TestContext,
  clients: number,
  exchange: Exchange,
  port: number,
  makeAgent: () => Agent,
): Load {
  const sent: Sent = { requests: 0, connections: 0, failures: [], latenciesMs: [] };
  let isStopped = false;
  t.after(() => {
    isStopped = true;
  });
  const client = async (): Promise<void> => {
    const agent = makeAgent();
    while (!isStopped) {
      const began = performance.now();
      try {
        const { status, body } = await send(agent, port, exchange);
        if (status !== 200 || !exchange.expected(body)) {
          sent.failures.push(`status ${status}, ${body.length} bytes`);
        }
      } catch (error) {
        sent.failures.push((error as NodeJS.ErrnoException).code ?? (error as Error).message);
      }
      sent.requests += 1;
      sent.latenciesMs.push(performance.now() - began);
    }
    agent.destroy();
  };
  const all = Promise.all(Array.from({ length: clients }, client));
  return {
    stop: async () => {
      isStopped = true;
      await all;
      return sent;
    },
  };
}

function send(
  agent: Agent,
  port: number,
  { method = 'GET', path, parts = 0, pauseMs = 0 }: Exchange,
): Promise<{ status: number; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, method, agent }, (incoming) => {
      readAll(incoming).then(
        (body) => resolve({ status: incoming.statusCode ?? 0, body }),
        (error: unknown) => reject(error as Error),
      );
    });
    outgoing.on('error', reject);
    void writeParts(parts, pauseMs, (part) => outgoing.write(part)).then(() => outgoing.end());
  });
}

/** As slow as asked for: an upload's sender, or a download's. */
export async function writeParts(
  parts: number,
  pauseMs: number,
  write: (part: Buffer) => void,
): Promise<void> {
  for (let i = 0; i < parts; i += 1) {
    write(PART);
    if (pauseMs > 0) await sleep(pauseMs);
  }
}

async function readAll(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The value below which this share of them lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
