import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_ONLY, address, says, webBootstrap } from './support/bootstraps.js';
import { Command, makeFolder, runCommand, startProxy } from './support/start-proxy.js';

function writeBootstrap(
  t: TestContext,
  bootstrap: object | string,
  name = 'bootstrap.yaml',
): string {
  const path = join(makeFolder(t), name);
  writeFileSync(path, typeof bootstrap === 'string' ? bootstrap : JSON.stringify(bootstrap));
  return path;
}

async function takePort(t: TestContext): Promise<number> {
  const taken = createServer().listen(0, '127.0.0.1');
  t.after(() => taken.close());
  await new Promise((resolve) => taken.once('listening', resolve));
  return (taken.address() as AddressInfo).port;
}

for (const [signal, said] of [
  ['SIGTERM', 'ENVOY_SIGTERM'],
  ['SIGINT', 'SIGINT'],
] as const) {
  test(`${signal} ends the proxy with exit code 0`, async (t) => {
    const proxy = await startProxy(t, webBootstrap([says('/', 'yes')]));
    await (await fetch(await proxy.listenerUrl('web'))).text();

    const { code, stdout, stderr } = await proxy.command.end(signal);
    assert.deepEqual([code, stdout], [0, '']);
    assert.match(stderr, new RegExp(`\\[warning\\]\\[main\\] .* caught ${said}\n`));
    assert.match(stderr, /exiting\n$/);
  });
}

test('POST /quitquitquit ends the proxy with exit code 0', async (t) => {
  const proxy = await startProxy(t, ADMIN_ONLY);
  const answer = await fetch(`${proxy.adminUrl}/quitquitquit`, { method: 'POST' });

  assert.equal(await answer.text(), 'OK\n');
  assert.equal((await proxy.command.ended).code, 0);
});

test('SIGHUP is eaten', async (t) => {
  const proxy = await startProxy(t, ADMIN_ONLY);
  proxy.command.process.kill('SIGHUP');

  await proxy.command.says(/\[warning\]\[main\] .* caught and eating SIGHUP/);
  assert.equal((await fetch(`${proxy.adminUrl}/ready`)).status, 200);
});

test('SIGUSR1 opens the log anew, and no debugger', async (t) => {
  const log = join(makeFolder(t), 'proxy.log');
  const proxy = await startProxy(t, ADMIN_ONLY, '--log-path', log);
  renameSync(log, `${log}.old`);
  proxy.command.process.kill('SIGUSR1');
  while (!existsSync(log)) await fetch(`${proxy.adminUrl}/ready`);

  const { code, stderr } = await proxy.command.end();
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(readFileSync(`${log}.old`, 'utf8'), /caught SIGUSR1\. Reopening access logs\.\n$/);
  assert.match(readFileSync(log, 'utf8'), /caught ENVOY_SIGTERM/);
});

function catchesUsr1(pid = 0): boolean {
  const [, mask = '0'] =
    /^SigCgt:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (BigInt(`0x${mask}`) & (1n << BigInt(constants.signals.SIGUSR1 - 1))) !== 0n;
}

test('SIGUSR1 while Node itself is starting leaves no debugger behind', async (t) => {
  for (const afterMs of [0, 20, 40, 60]) {
    const command = new Command(t, '-c', writeBootstrap(t, ADMIN_ONLY));
    // Before Node does, nothing keeps the signal from ending the process.
    while (!catchesUsr1(command.process.pid)) await sleep(1);
    await sleep(afterMs);
    command.process.kill('SIGUSR1');
    await command.says(/starting main dispatch loop/);

    const opened = /ws:\/\/([\d.:]+)\//.exec(command.stderr)?.[1];
    if (opened !== undefined) await assert.rejects(fetch(`http://${opened}/json`));
    assert.equal((await command.end()).code, 0);
  }
});

test('--mode validate says OK, and touches no port', async (t) => {
  const path = writeBootstrap(t, webBootstrap([says('/', 'yes')], {}, await takePort(t)));

  const { code, stdout } = await runCommand(t, '--mode', 'validate', '-c', path);
  assert.deepEqual([code, stdout], [0, `configuration '${path}' OK\n`]);
});

test('--mode init_only starts, and ends', async (t) => {
  const path = writeBootstrap(t, webBootstrap([says('/', 'yes')]));

  assert.equal((await runCommand(t, '--mode', 'init_only', '-c', path)).code, 0);
});

test('a broken bootstrap: every error at once, each with its line and column', async (t) => {
  const path = writeBootstrap(t, 'no_such_field: 1\nnode:\n  id: []\nstats_flush_interval: soon\n');

  for (const mode of ['validate', 'serve']) {
    const { code, stdout, stderr } = await runCommand(t, '--mode', mode, '-c', path);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /\[critical\]\[main\] .* error initializing config/);
    for (const place of [`${path}:1:`, `${path}:3:`, `${path}:4:`])
      assert.ok(stderr.includes(place), stderr);
  }
});

test('a single mistake stands on a line of its own, as several do', async (t) => {
  const path = writeBootstrap(t, 'no_such_field: 1\n');

  for (const mode of ['validate', 'serve']) {
    const { stderr } = await runCommand(t, '--mode', mode, '-c', path);
    assert.match(stderr, /\[critical\]\[main\] .* error initializing config.*:\n/);
    assert.equal(
      stderr.split('\n').filter((line) => line.startsWith(`${path}:1:1: no_such_field: `)).length,
      1,
      stderr,
    );
  }
});

test('the process is called fairlead, with its arguments', async (t) => {
  const path = writeBootstrap(t, ADMIN_ONLY);
  const command = new Command(t, '-c', path, '--use-dynamic-base-id', '--concurrency', '1');
  await command.says(/starting main dispatch loop/);
  const tell = (file: string): string =>
    readFileSync(`/proc/${command.process.pid}/${file}`, 'utf8').replace(/[\0\n]+$/, '');

  assert.equal(tell('comm'), 'fairlead');
  assert.equal(tell('cmdline'), `fairlead -c ${path} --use-dynamic-base-id --concurrency 1`);
});

test('a bootstrap that is not there is named', async (t) => {
  const { code, stderr } = await runCommand(t, '-c', '/no/such/bootstrap.yaml');

  assert.equal(code, 1);
  assert.match(stderr, /\/no\/such\/bootstrap\.yaml/);
});

test('errors reach stderr when the log goes to a file as well', async (t) => {
  const path = writeBootstrap(t, 'no_such_field: 1\n');
  const log = join(makeFolder(t), 'proxy.log');
  const { stderr } = await runCommand(t, '-c', path, '--log-path', log);

  assert.ok(stderr.startsWith(`${path}:1:1: no_such_field: `), stderr);
  assert.match(readFileSync(log, 'utf8'), /no_such_field/);
});

test('a port that is taken: the error names the address and the listener that asked for it', async (t) => {
  const port = await takePort(t);
  const path = writeBootstrap(t, webBootstrap([says('/', 'yes')], {}, port));

  const { code, stderr } = await runCommand(t, '-c', path);
  assert.equal(code, 1);
  assert.match(
    stderr,
    new RegExp(`listener 'web': .*127\\.0\\.0\\.1:${port}.*Address already in use`),
  );
});

test('an admin port that is taken is named', async (t) => {
  const port = await takePort(t);
  const path = writeBootstrap(t, { admin: { address: address(port) } });

  const { code, stderr } = await runCommand(t, '-c', path);
  assert.equal(code, 1);
  assert.match(
    stderr,
    new RegExp(`admin server: cannot bind '127\\.0\\.0\\.1:${port}': Address already in use`),
  );
});

test('options that are refused: a line on stderr and exit code 1', async (t) => {
  const { code, stdout, stderr } = await runCommand(t, '--mode', 'nonsense');

  assert.deepEqual(
    [code, stdout, stderr],
    [1, '', "error: unknown mode 'nonsense'; expected one of serve, validate, init_only\n"],
  );
});

test('--version prints five fields between slashes', async (t) => {
  const { code, stdout, stderr } = await runCommand(t, '--version');

  assert.deepEqual([code, stderr], [0, '']);
  assert.match(
    stdout,
    /^\nfairlead {2}version: [0-9a-f]{40}\/\d+\.\d+\.\d+\/(Clean|Modified)\/RELEASE\/[\w.+-]+\n\n$/,
  );
});

test('a signal in the first moments of a start ends it as well', async (t) => {
  const path = writeBootstrap(t, ADMIN_ONLY);
  const command = new Command(t, '-c', path);
  await command.says(/initializing epoch 0/);

  assert.equal((await command.end()).code, 0);
});
