// The admin address goes from process to process with its socket: whoever asks gets an answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { says, webBootstrap } from '../support/bootstraps.js';
import { withoutUws } from '../support/without-uws.js';
import { Epochs } from './epochs.js';
import { connectionLoad } from './load.js';

const RESTARTS = 5;
/** Between two restarts. */
const PAUSE_MS = 100;

/** A web server whose admin server listens there. */
function bootstrapAt(port: number): object {
  const socket_address = { address: '127.0.0.1', port_value: port };
  return { ...webBootstrap([says('/', 'here')]), admin: { address: { socket_address } } };
}

for (const name of ['uWebSockets.js', 'node:http']) {
  test(`${name}: ${RESTARTS} restarts fail no scrape of the admin address`, async (t) => {
    if (name === 'node:http') withoutUws(t);
    const quick = ['--drain-time-s', '1', '--parent-shutdown-time-s', '2', '-l', 'warning'];
    const epochs = new Epochs(t, bootstrapAt(0), ...quick);
    const { adminUrl } = await epochs.start(0);
    const port = Number(new URL(adminUrl).port);
    // The first process has its port of the kernel, the others want the same.
    epochs.configure(bootstrapAt(port));
    const load = connectionLoad(t, port, 3, {
      path: '/stats/prometheus',
      expected: (body) => body.includes('envoy_server_live'),
    });
    for (let epoch = 1; epoch <= RESTARTS; epoch += 1) {
      assert.equal((await epochs.start(epoch)).adminUrl, adminUrl);
      await sleep(PAUSE_MS);
    }

    const { requests, failures } = await load.stop();
    assert.deepEqual(failures, []);
    assert.ok(requests > 10 * RESTARTS, `${requests} requests`);
  });
}

test('a successor that wants another admin address leaves the old one to nobody', async (t) => {
  const epochs = new Epochs(t, bootstrapAt(0), '--drain-time-s', '600', '-l', 'warning');
  const first = await epochs.start(0);
  const second = await epochs.start(1);

  assert.notEqual(second.adminUrl, first.adminUrl);
  await assert.rejects(fetch(`${first.adminUrl}/ready`));
  assert.equal((await fetch(`${second.adminUrl}/ready`)).status, 200);
});

test('a successor that ends before it serves gives the admin address back', async (t) => {
  const epochs = new Epochs(t, bootstrapAt(0), '-l', 'warning');
  const { adminUrl } = await epochs.start(0);
  const { host } = new URL(adminUrl);
  // It takes the admin address, and then cannot have that of its listener.
  const broken = bootstrapAt(Number(host.split(':')[1])) as Record<string, unknown>;
  const address = { socket_address: { address: '192.0.2.77', port_value: 1 } };
  const listeners = [{ name: 'away', address, filter_chains: [{ filters: [] }] }];
  epochs.configure({ ...broken, static_resources: { listeners } });
  const { code } = await epochs.spawn(1).ended;

  assert.equal(code, 1);
  assert.equal(await (await fetch(`${adminUrl}/ready`)).text(), 'LIVE\n');
});
