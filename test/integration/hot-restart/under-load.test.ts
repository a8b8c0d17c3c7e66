// Restarts while clients of every kind are at work: nobody notices, and every request is counted once.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { listenerPort } from '../support/start-proxy.js';
import { toCluster, webBootstrap } from '../support/bootstraps.js';
import { Epochs, readStats, type RunningEpoch } from './epochs.js';
import { connectionLoad, keepAliveLoad, writeParts, type Sent } from './load.js';

const RESTARTS = 10;
/** Between two restarts. */
const PAUSE_MS = 150;
const CONCURRENCIES = [2, 1, 3, 4, 2, 1, 1, 3, 2, 4];
const SLOW_PARTS = 12;
const SLOW_PAUSE_MS = 50;
const SLOW_BYTES = SLOW_PARTS * 4096;

/** /download sends slowly; all else answers with how much it was sent. */
async function startOrigin(t: TestContext): Promise<number> {
  const server = createServer((incoming, response) => {
    if (incoming.url === '/download') {
      void writeParts(SLOW_PARTS, SLOW_PAUSE_MS, (part) => response.write(part)).then(() =>
        response.end(),
      );
      return;
    }
    let size = 0;
    incoming.on('data', (chunk: Buffer) => (size += chunk.length));
    incoming.on('end', () => response.end(String(size)));
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as { port: number }).port;
}

test('ten restarts under load: nothing fails, and every request is counted once', async (t) => {
  const origin = await startOrigin(t);
  const bootstrap = webBootstrap([toCluster('/', 'origin')], { origin });
  const epochs = new Epochs(
    t,
    bootstrap,
    ...['--drain-time-s', '1', '--parent-shutdown-time-s', '3', '-l', 'warning'],
  );
  let current = await epochs.start(0, '--concurrency', '2');
  const port = await listenerPort(current.adminUrl, 'web');
  const isText = (text: string) => (body: Buffer) => body.toString() === text;
  const loads = [
    keepAliveLoad(t, port, 4, { path: '/', expected: isText('0') }),
    connectionLoad(t, port, 2, { path: '/', expected: isText('0') }),
    connectionLoad(t, port, 2, {
      ...{ method: 'POST', path: '/upload', parts: SLOW_PARTS, pauseMs: SLOW_PAUSE_MS },
      expected: isText(String(SLOW_BYTES)),
    }),
    keepAliveLoad(t, port, 2, {
      path: '/download',
      expected: (body) => body.length === SLOW_BYTES,
    }),
  ];
  const gone: RunningEpoch[] = [];
  for (let epoch = 1; epoch <= RESTARTS; epoch += 1) {
    gone.push(current);
    current = await epochs.start(epoch, '--concurrency', String(CONCURRENCIES[epoch - 1]));
    await sleep(PAUSE_MS);
  }
  const sent: Sent[] = await Promise.all(loads.map((load) => load.stop()));
  const failures = sent.flatMap(({ failures: some }) => some);
  // Their last numbers come with their end.
  for (const { command } of gone) {
    const { code, signal, stderr } = await command.ended;
    assert.equal(code, 0, `${signal ?? ''} ${stderr} (clients: ${failures.join()})`);
  }
  assert.deepEqual(failures, []);

  const requests = sent.reduce((total, { requests: some }) => total + some, 0);
  const stats = await readStats(current.adminUrl, '^http.web.downstream_(rq|cx)_|^server.hot');
  assert.equal(stats.get('http.web.downstream_rq_total'), requests);
  assert.equal(stats.get('http.web.downstream_rq_2xx'), requests);
  assert.equal(stats.get('http.web.downstream_rq_active'), 0);
  assert.equal(stats.get('server.hot_restart_epoch'), RESTARTS);
  assert.equal(stats.get('server.hot_restart_generation'), RESTARTS + 1);
  const ending = await current.command.end();
  assert.equal(ending.code, 0, ending.stderr);
});
