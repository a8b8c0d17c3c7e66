// Connections on which nothing happens keep the process that has them, however many came after it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { says, webBootstrap } from '../support/bootstraps.js';
import { listenerPort } from '../support/start-proxy.js';
import { Epochs, readStats } from './epochs.js';

const RESTARTS = 3;
const PATIENT = ['--drain-time-s', '600', '--parent-shutdown-time-s', '900', '-l', 'warning'];

/** Resolves with the status line, rejects when the connection ends instead. */
async function ask(client: Socket): Promise<string> {
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  const [answer] = (await Promise.race([
    once(client, 'data'),
    once(client, 'close').then(() => Promise.reject(new Error('the connection has ended'))),
  ])) as [Buffer];
  return answer.toString().split('\r\n', 1)[0] ?? '';
}

for (const args of [[], ['--skip-hot-restart-parent-stats']]) {
  test(`a silent connection outlives restarts [${args.join()}]`, async (t) => {
    const epochs = new Epochs(t, webBootstrap([says('/', 'here')]), ...PATIENT, ...args);
    const first = await epochs.start(0);
    const client = connect(await listenerPort(first.adminUrl, 'web'), '127.0.0.1');
    t.after(() => client.destroy());
    assert.equal(await ask(client), 'HTTP/1.1 200 OK');
    for (let epoch = 1; epoch <= RESTARTS; epoch += 1) await epochs.start(epoch);

    assert.equal(await ask(client), 'HTTP/1.1 200 OK');
  });
}

test('gauges that do not change are the sum over all processes', async (t) => {
  const epochs = new Epochs(t, webBootstrap([says('/', 'here')]), ...PATIENT);
  const first = await epochs.start(0);
  const port = await listenerPort(first.adminUrl, 'web');
  const clients: Socket[] = [];
  t.after(() => clients.forEach((client) => client.destroy()));
  const open = async (): Promise<void> => {
    const client = connect(port, '127.0.0.1');
    clients.push(client);
    await ask(client);
  };
  await open();
  let current = first;
  for (let epoch = 1; epoch <= RESTARTS; epoch += 1) {
    current = await epochs.start(epoch);
    await open();
  }
  const name = 'http.web.downstream_cx_active';
  assert.equal((await readStats(current.adminUrl, `^${name}$`)).get(name), RESTARTS + 1);
});
