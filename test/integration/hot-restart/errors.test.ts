// What does not go well: base ids that are taken, parents that are not there, leftovers.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ADMIN_ONLY, says, webBootstrap } from '../support/bootstraps.js';
import { packageRoot } from '../../../src/base/package-root.js';
import { Program, listenerPort, makeFolder } from '../support/start-proxy.js';
import { Epochs, readStats } from './epochs.js';
import { connectionLoad } from './load.js';

const QUICK = ['--drain-time-s', '1', '--parent-shutdown-time-s', '1'];
const region = (baseId: string): string => `/dev/shm/fairlead_shared_memory_${baseId}0`;

test('a base id that is in use is refused, and who uses it is not disturbed', async (t) => {
  const epochs = new Epochs(t, ADMIN_ONLY, ...QUICK);
  const first = await epochs.start(0);
  const { code, stderr } = await epochs.spawn(0).ended;

  assert.equal(code, 1);
  const id = `${epochs.baseId}0`;
  assert.match(
    stderr,
    new RegExp(`unable to bind domain socket with base_id=${id}, id=0, errno=98`),
  );
  assert.match(stderr, /see --base-id option/);
  assert.equal((await fetch(`${first.adminUrl}/ready`)).status, 200);
});

test('an epoch that is not the next one is told which would be', async (t) => {
  const epochs = new Epochs(t, ADMIN_ONLY, ...QUICK);
  await epochs.start(0);
  const { code, stderr } = await epochs.spawn(3).ended;

  assert.equal(code, 1);
  assert.match(stderr, /no parent process of epoch 2 .*epoch 0 is running.*--restart-epoch 1/);
  await epochs.start(1);
});

test('without shared memory there is no parent: said at once', async (t) => {
  const epochs = new Epochs(t, ADMIN_ONLY, ...QUICK);
  const first = await epochs.start(0);
  await first.command.end();
  assert.ok(!existsSync(region(epochs.baseId)), 'the last one out removes it');
  const { code, stderr } = await epochs.spawn(1).ended;

  assert.equal(code, 1);
  assert.match(stderr, /cannot open shared memory region .*no parent process of epoch 0/);
  const started = await epochs.start(1, '--skip-hot-restart-on-no-parent');
  const stats = await readStats(started.adminUrl, '^server.hot_restart');
  assert.equal(stats.get('server.hot_restart_epoch'), 1);
  assert.equal(stats.get('server.hot_restart_generation'), 1);
});

test('what a killed process leaves behind hinders nobody', async (t) => {
  const epochs = new Epochs(t, ADMIN_ONLY, ...QUICK);
  const first = await epochs.start(0);
  await first.command.end('SIGKILL');
  assert.ok(existsSync(region(epochs.baseId)));
  const again = await epochs.start(0, '-l', 'info');
  assert.match(
    again.command.stderr,
    /shared memory that crashed processes left behind was made anew/,
  );
  await again.command.end('SIGKILL');
  const next = await epochs.start(1);

  assert.equal((await next.command.end()).code, 0);
  assert.ok(!existsSync(region(epochs.baseId)));
});

test('a successor with a broken configuration disturbs nobody', async (t) => {
  const good = webBootstrap([says('/', 'first')]);
  const epochs = new Epochs(t, good, ...QUICK);
  const first = await epochs.start(0);
  const port = await listenerPort(first.adminUrl, 'web');
  epochs.configure({ ...good, nonsense: true });
  assert.equal((await epochs.spawn(1).ended).code, 1);
  epochs.configure({ ...good, admin: { address: { pipe: { path: '/no/such/folder/admin' } } } });
  assert.equal((await epochs.spawn(1).ended).code, 1);

  assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'first');
  epochs.configure(good);
  await epochs.start(1);
});

test('a successor that ends before it is LIVE takes no connection with it', async (t) => {
  const good = webBootstrap([says('/', 'first')]);
  const epochs = new Epochs(t, good, ...QUICK);
  const first = await epochs.start(0);
  const port = await listenerPort(first.adminUrl, 'web');
  // It has bound sockets of its own for three more workers when the admin address is refused.
  epochs.configure({ ...good, admin: { address: { pipe: { path: '/no/such/folder/admin' } } } });
  const load = connectionLoad(t, port, 4, {
    path: '/',
    expected: (body) => body.toString() === 'first',
  });
  for (let i = 0; i < 3; i += 1) {
    assert.equal((await epochs.spawn(1, '--concurrency', '4').ended).code, 1);
  }
  assert.deepEqual((await load.stop()).failures, []);
});

test('a folder for sockets that is not there is named', async (t) => {
  const path = join(makeFolder(t), 'none', 'restart');
  const epochs = new Epochs(t, ADMIN_ONLY, '--socket-path', path);
  const { code, stderr } = await epochs.spawn(0).ended;

  assert.equal(code, 1);
  assert.match(stderr, /unable to bind domain socket .*: no such file .*: a socket in '.*\/none'/);
});

test('sockets can be files, with a permission, that go with their process', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'restart');
  const socket = ['--socket-path', path, '--socket-mode', '600'];
  const epochs = new Epochs(t, ADMIN_ONLY, ...QUICK, ...socket);
  const first = await epochs.start(0);
  const file = `${path}_parent_${epochs.baseId}0`;
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const second = await epochs.start(1);
  assert.equal((await first.command.ended).code, 0);
  assert.ok(!existsSync(file));
  await second.command.end('SIGKILL');
  const third = await epochs.start(2);
  assert.equal((await third.command.end()).code, 0);
});

const mayMount = spawnSync('unshare', ['-m', 'true']).status === 0;

test(
  'a full /dev/shm is said, and nothing is left there',
  { skip: mayMount ? false : 'it needs to mount (CAP_SYS_ADMIN)' },
  async (t) => {
    const bootstrap = join(makeFolder(t), 'bootstrap.json');
    writeFileSync(bootstrap, JSON.stringify(ADMIN_ONLY));
    const command = `${process.execPath} ${packageRoot()}/dist/cli.js -c ${bootstrap}`;
    // A /dev/shm of its own, of a page that a file fills.
    const script =
      'mount -t tmpfs -o size=4096 tmpfs /dev/shm && echo full > /dev/shm/file && ' +
      `{ ${command} --use-dynamic-base-id; code=$?; ls /dev/shm; exit $code; }`;
    const started = new Program(t, ['unshare', '-m', 'sh', '-c', script]);
    const { code, stdout, stderr } = await started.ended;

    assert.match(stderr, /cannot make shared memory region \/fairlead.*: \/dev\/shm is full/);
    assert.equal(code, 1);
    assert.equal(stdout, 'file\n');
  },
);

test('a parent that does not answer is given up, and goes on', async (t) => {
  const epochs = new Epochs(t, webBootstrap([says('/', 'first')]), ...QUICK);
  const first = await epochs.start(0);
  const port = await listenerPort(first.adminUrl, 'web');
  first.command.process.kill('SIGSTOP');
  const { code, stderr } = await epochs.spawn(1).ended;
  first.command.process.kill('SIGCONT');

  assert.equal(code, 1);
  assert.match(stderr, /the parent process \(epoch 0\) gives no answer to 'attach' within 10 s/);
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'first');
  await epochs.start(1);
});
