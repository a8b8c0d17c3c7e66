// What a process does with requests that are under way when its time is up.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test, type TestContext } from 'node:test';
import { listenerPort } from '../support/start-proxy.js';
import { toCluster, webBootstrap } from '../support/bootstraps.js';
import { Epochs } from './epochs.js';
import { keepAliveLoad } from './load.js';

/** Of an answer: every client waits for one at any moment. */
const ANSWER_MS = 40;
const CLIENTS = 20;

async function startSlowOrigin(t: TestContext): Promise<number> {
  const server = createServer((_, response) => {
    setTimeout(() => response.end('slow'), ANSWER_MS);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as { port: number }).port;
}

test('requests under way at the parent shutdown time are answered', async (t) => {
  const origin = await startSlowOrigin(t);
  const epochs = new Epochs(
    t,
    webBootstrap([toCluster('/', 'origin')], { origin }),
    // Hardly any answer asks its client to leave before the end.
    ...['--drain-time-s', '100000', '--parent-shutdown-time-s', '1', '-l', 'warning'],
  );
  const first = await epochs.start(0);
  const load = keepAliveLoad(t, await listenerPort(first.adminUrl, 'web'), CLIENTS, {
    path: '/',
    expected: (body) => body.toString() === 'slow',
  });
  await epochs.start(1);
  assert.equal((await first.command.ended).code, 0);

  const { failures, requests } = await load.stop();
  assert.deepEqual(failures, []);
  assert.ok(requests > CLIENTS);
});
