// Fairlead under fairlead-hot-restarter, and under systemd itself.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../../src/base/package-root.js';
import { ADMIN_ONLY } from '../support/bootstraps.js';
import { makeFolder, Program } from '../support/start-proxy.js';
import { FakeManager, Restarter } from './support.js';

test('fairlead tells systemd when it is LIVE and when it ends', async (t) => {
  const folder = makeFolder(t);
  const socket = join(folder, 'notify');
  const manager = new FakeManager(t, socket);
  await manager.prints(/listening/);
  const bootstrap = join(folder, 'bootstrap.json');
  writeFileSync(bootstrap, JSON.stringify(ADMIN_ONLY));
  const command = [process.execPath, join(packageRoot(), 'dist', 'cli.js')];
  const options = ['-c', bootstrap, '--use-dynamic-base-id', '--concurrency', '1'];
  const env = { ...process.env, NOTIFY_SOCKET: socket };
  const proxy = new Program(t, [...command, ...options], { env });

  assert.deepEqual(await manager.hears(/READY=1/), [
    `READY=1 MAINPID=${proxy.process.pid} STATUS=serving, epoch 0`,
  ]);
  assert.equal((await proxy.end()).code, 0);
  assert.deepEqual(
    (await manager.hears(/STOPPING=1/)).at(-1),
    'STOPPING=1 STATUS=ending connections',
  );
});

test('fairlead under the restarter says by itself that it is LIVE, and ends with it', async (t) => {
  const folder = makeFolder(t);
  const [bootstrap, address] = [join(folder, 'bootstrap.json'), join(folder, 'address')];
  writeFileSync(bootstrap, JSON.stringify(ADMIN_ONLY));
  const options = ['-c', bootstrap, '--use-dynamic-base-id', '--concurrency', '1'];
  const restarter = new Restarter(t, [...options, '--admin-address-path', address]);
  await restarter.live(0);

  const ready = await fetch(`http://${readFileSync(address, 'utf8')}/ready`);
  assert.equal(ready.status, 200);
  const { code, stderr } = await restarter.end();
  assert.equal(code, 0);
  assert.match(stderr, /epoch 0 \(pid \d+\) exited with code 0/);
});

test('a bootstrap that is wrong ends the restarter as it ends fairlead', async (t) => {
  const restarter = new Restarter(t, ['--config-yaml', 'nope: 1', '--use-dynamic-base-id']);
  const { code, stderr } = await restarter.ended;

  assert.equal(code, 1);
  assert.match(stderr, /error initializing config/);
  assert.match(stderr, /exited with code 1 before it was LIVE/);
});
