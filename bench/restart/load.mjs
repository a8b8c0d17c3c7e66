// Clients that go on until they are stopped and never try twice, so that every loss is seen.
import { Agent, createServer, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const PART = Buffer.alloc(16 * 1024, 'x');

/** Answers at once with the size of what it was sent; /slow answers bit by bit. */
export async function startOrigin({ parts, pauseMs }) {
  const server = createServer((incoming, response) => {
    if (incoming.url === '/slow') {
      void writeParts(response, parts, pauseMs);
      return;
    }
    let size = 0;
    incoming.on('data', (chunk) => (size += chunk.length));
    incoming.on('end', () => response.end(String(size)));
  });
  server.keepAliveTimeout = 120_000;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: server.address().port,
    stop: () => (server.closeAllConnections(), server.close()),
  };
}

async function writeParts(stream, parts, pauseMs) {
  for (let i = 0; i < parts; ++i) {
    stream.write(PART);
    if (pauseMs > 0) await sleep(pauseMs);
  }
  stream.end();
}

/**
 * @param {number} port the proxy's
 * @param {{clients: number, keepAlive: boolean, path: string, parts?: number, pauseMs?: number,
 *   expectedBytes?: number}} kind parts: of an upload
 */
export function startLoad(port, kind) {
  const samples = [];
  const failures = new Map();
  let isStopped = false;
  const client = async () => {
    const agent = new Agent({ keepAlive: kind.keepAlive, maxSockets: 1 });
    while (!isStopped) {
      const startedMs = performance.now();
      const problem = await exchange(agent, port, kind);
      samples.push({ atMs: startedMs, tookMs: performance.now() - startedMs });
      if (problem) failures.set(problem, (failures.get(problem) ?? 0) + 1);
      // A proxy that is gone must not make this spin.
      if (problem) await sleep(10);
    }
    agent.destroy();
  };
  const clients = Promise.all(Array.from({ length: kind.clients }, client));
  return {
    async stop() {
      isStopped = true;
      await clients;
      return { samples, failures };
    },
  };
}

/** Undefined, or what went wrong. */
function exchange(agent, port, { path, parts = 0, pauseMs = 0, expectedBytes }) {
  return new Promise((resolve) => {
    const method = parts > 0 ? 'POST' : 'GET';
    const outgoing = request({ host: '127.0.0.1', port, path, method, agent }, (incoming) => {
      let size = 0;
      incoming.on('data', (chunk) => (size += chunk.length));
      incoming.on('error', (error) => resolve(error.code ?? error.message));
      incoming.on('end', () => {
        if (incoming.statusCode !== 200) resolve(`status ${incoming.statusCode}`);
        else if (expectedBytes !== undefined && size !== expectedBytes) resolve('cut short');
        else resolve(undefined);
      });
    });
    outgoing.on('error', (error) => resolve(error.code ?? error.message));
    if (parts > 0) void writeParts(outgoing, parts, pauseMs);
    else outgoing.end();
  });
}

export const partBytes = PART.length;
