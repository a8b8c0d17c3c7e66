import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Log } from '../../../src/logging/logger.js';
import { readConfiguration } from '../../../src/server/configuration.js';
import { StartError } from '../../../src/server/start-error.js';
import { Server } from '../../../src/server/server.js';
import { loadAddon, type NativeOptions } from '../../../src/native.js';
import { FakeLog } from '../support/fake-log.js';
import { FakeNative } from '../support/fake-native.js';
import { optionsOf } from '../support/options.js';
import { folderOf } from '../support/folder.js';

const ADMIN = { admin: { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } } };

function serverOf(t: TestContext, bootstrap: object, ...args: readonly string[]) {
  const native = new FakeNative();
  const created: NativeOptions[] = [];
  const told: string[] = [];
  let coreDumps = 0;
  const options = optionsOf('--config-yaml', JSON.stringify(bootstrap), ...args);
  const log = new Log({ level: 'off', pattern: '%v' });
  const configuration = readConfiguration(options, log);
  const server = new Server({
    options,
    configuration,
    log,
    addon: {
      ...loadAddon(),
      log: new FakeLog(),
      create: (nativeOptions) => {
        created.push(nativeOptions);
        return native;
      },
      enableCoreDump: () => ++coreDumps,
    },
    tellManager: (...assignments) => told.push(...assignments),
  });
  t.after(() => server.stop());
  return { server, native, nativeOptions: created[0], coreDumps, told };
}

async function ready(server: Server): Promise<string> {
  const answer = await fetch(`http://${server.adminAddress}/ready`);
  return `${answer.status} ${await answer.text()}`;
}

test('the plan is applied before the workers start, and the end shuts them down once', async (t) => {
  const { server, native } = serverOf(t, {});
  assert.equal(server.state(), 'PRE_INITIALIZING');
  await server.start();
  assert.equal(server.state(), 'LIVE');
  await Promise.all([server.stop(), server.stop()]);

  // The second is of the runtime's values.
  const [plan, values, ...rest] = native.calls;
  assert.deepEqual([plan, values], ['apply', 'apply']);
  assert.deepEqual(rest, ['start', 'startDrain all 0 immediate', 'shutdown']);
});

test('the data plane hears what the command line says of logs and locks', (t) => {
  const { nativeOptions } = serverOf(
    t,
    {},
    '--file-flush-min-size-kb=4',
    '--file-flush-interval-msec=250',
    '--enable-mutex-tracing',
    '--concurrency=0',
  );
  const { stats, ...others } = nativeOptions ?? {};
  assert.ok(stats);
  assert.deepEqual(others, {
    concurrency: 1,
    fileFlushIntervalMs: 250,
    logFlushBytes: 4096,
    tracesLocks: true,
  });
  const { nativeOptions: usual } = serverOf(t, {});
  assert.equal(usual?.logFlushBytes, undefined);
  assert.equal(usual?.tracesLocks, false);
});

test('core dumps are enabled where they are asked for', (t) => {
  assert.equal(serverOf(t, {}).coreDumps, 0);
  assert.equal(serverOf(t, {}, '--enable-core-dump').coreDumps, 1);
});

test('the admin server answers while the server lives, and not after', async (t) => {
  const { server } = serverOf(t, ADMIN);
  await server.start();
  assert.equal(await ready(server), '200 LIVE\n');
  await server.stop();

  await assert.rejects(ready(server));
});

test('failing health checks make the server DRAINING', async (t) => {
  const { server } = serverOf(t, ADMIN);
  await server.start();
  server.setHealthy(false);
  assert.equal(await ready(server), '503 DRAINING\n');
  server.setHealthy(true);

  assert.equal(await ready(server), '200 LIVE\n');
});

test('/quitquitquit asks whoever runs the server for its end', async (t) => {
  const { server } = serverOf(t, ADMIN);
  await server.start();
  await fetch(`http://${server.adminAddress}/quitquitquit`, { method: 'POST' });

  await server.quitAsked;
});

test('an admin port that is taken is named, with who asked for it', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.after(() => taken.close());
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as { port: number };
  const bootstrap = {
    admin: { address: { socket_address: { address: '127.0.0.1', port_value: port } } },
  };
  const { server } = serverOf(t, bootstrap);

  const message = `admin server: cannot bind '127.0.0.1:${port}': Address already in use`;
  await assert.rejects(server.start(), new StartError(message));
});

test('everything that could not be applied is said at once, each with its name', async (t) => {
  const { server, native } = serverOf(t, {});
  native.applyErrors = [
    { kind: 'listener', name: 'web', message: "cannot bind '127.0.0.1:80': Permission denied" },
    { kind: 'route_table', name: 'r', message: 'too deep' },
  ];

  await assert.rejects(
    server.start(),
    new StartError(
      "listener 'web': cannot bind '127.0.0.1:80': Permission denied\nroute table 'r': too deep",
    ),
  );
});

test('the address of the admin server is written where asked', async (t) => {
  const folder = folderOf(t);
  const address = join(folder, 'address');
  const { server } = serverOf(t, ADMIN, '--admin-address-path', address);
  await server.start();

  assert.equal(readFileSync(address, 'utf8'), server.adminAddress);
});

test('files that cannot be written do not keep the server from living', async (t) => {
  const { server } = serverOf(t, ADMIN, '--admin-address-path', '/no/such/folder/x');
  await server.start();

  assert.equal(server.state(), 'LIVE');
});

test('gauges are written at the start, histograms wait for the first flush', async (t) => {
  const { server, native } = serverOf(t, {}, '--concurrency', '0');
  await server.start();

  assert.equal(native.value('server.live'), 1);
  assert.equal(native.value('server.state'), 0);
  assert.equal(native.value('server.concurrency'), 1);
  assert.ok(!native.calls.includes('flushHistograms'));
  server.setHealthy(false);
  server.flushStats();
  assert.deepEqual([native.value('server.live'), native.value('server.state')], [0, 1]);
  assert.ok(native.calls.includes('flushHistograms'));
});

test('statistics are flushed on the interval of the bootstrap', async (t) => {
  const { server, native } = serverOf(t, { stats_flush_interval: '0.01s' });
  await server.start();

  while (!native.calls.includes('flushHistograms'))
    await new Promise((resolve) => setTimeout(resolve, 5));
});

test('total_connections is what the listeners have', async (t) => {
  const { server, native } = serverOf(t, {});
  native.openCount = 5;
  await server.start();

  assert.equal(native.value('server.total_connections'), 5);
});

test('the service manager hears when the server is LIVE and when it ends', async (t) => {
  const { server, told } = serverOf(t, {});
  await server.start();
  assert.deepEqual(told, ['READY=1', `MAINPID=${process.pid}`, 'STATUS=serving, epoch 0']);
  told.length = 0;
  await server.stop();
  await server.stop();
  assert.deepEqual(told, ['STOPPING=1', 'STATUS=ending connections']);
});
