// Where the admin server listens, and with which socket.
import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { Command, makeFolder, runCommand, startProxy } from './support/start-proxy.js';

const SOL_SOCKET = 1;
const SO_RCVBUF = 8;
const NOT_AN_OPTION = 9999;

const admin = (address: object, more: object = {}): object => ({ admin: { address, ...more } });
const tcp = (address: string, port: number): object => ({
  socket_address: { address, port_value: port },
});
const option = (name: number, state: string): object => ({
  level: SOL_SOCKET,
  name,
  int_value: 12345,
  state,
});

test('an admin server with socket options answers as any other', async (t) => {
  for (const state of ['STATE_PREBIND', 'STATE_BOUND', 'STATE_LISTENING']) {
    const socket_options = [option(SO_RCVBUF, state)];
    const proxy = await startProxy(t, admin(tcp('127.0.0.1', 0), { socket_options }));

    assert.equal(await (await fetch(`${proxy.adminUrl}/ready`)).text(), 'LIVE\n');
    assert.doesNotMatch(proxy.command.stderr, /option on socket failed/);
  }
});

test('without an option of before binding there is no start', async (t) => {
  const socket_options = [option(NOT_AN_OPTION, 'STATE_PREBIND')];
  const bootstrap = JSON.stringify(admin(tcp('127.0.0.1', 0), { socket_options }));

  const { code, stderr } = await runCommand(t, '--config-yaml', bootstrap, '--use-dynamic-base-id');

  assert.equal(code, 1);
  assert.match(stderr, /Setting 1\/9999 option on socket failed: Protocol not available/);
  assert.match(stderr, /ListenSocket: Setting socket options failed/);
});

test('an option that cannot be set later is told of', async (t) => {
  const socket_options = [option(NOT_AN_OPTION, 'STATE_LISTENING')];
  const proxy = await startProxy(t, admin(tcp('127.0.0.1', 0), { socket_options }));

  assert.equal((await fetch(`${proxy.adminUrl}/ready`)).status, 200);
  await proxy.command.says(/Setting 1\/9999 option on socket failed/);
});

test('an admin server with socket options says that its port is taken', async (t) => {
  const { adminUrl } = await startProxy(t, admin(tcp('127.0.0.1', 0)));
  const { host, port } = new URL(adminUrl);
  const socket_options = [option(SO_RCVBUF, 'STATE_PREBIND')];
  const bootstrap = JSON.stringify(admin(tcp('127.0.0.1', Number(port)), { socket_options }));

  const { code, stderr } = await runCommand(t, '--config-yaml', bootstrap, '--use-dynamic-base-id');

  assert.equal(code, 1);
  assert.ok(stderr.includes(`cannot bind '${host}': Address already in use`), stderr);
});

test('an admin server listens on IPv6', async (t) => {
  const { adminUrl } = await startProxy(t, admin(tcp('::1', 0)));

  assert.match(adminUrl, /^http:\/\/\[::1\]:\d+$/);
  assert.equal((await fetch(`${adminUrl}/ready`)).status, 200);
});

test('whatever has the name of a pipe gives way to it, and the pipe stays when the proxy ends', async (t) => {
  const folder = makeFolder(t);
  const pipe = (name: string): object => ({ pipe: { path: join(folder, name) } });
  const filters = [
    {
      name: 'echo',
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.filters.network.echo.v3.Echo',
      },
    },
  ];
  const listeners = [{ name: 'l', address: pipe('listener'), filter_chains: [{ filters }] }];
  const bootstrap = JSON.stringify({ ...admin(pipe('admin')), static_resources: { listeners } });
  for (const name of ['admin', 'listener']) writeFileSync(join(folder, name), 'a file');
  for (let epoch = 0; epoch < 2; epoch += 1) {
    const command = new Command(t, '--config-yaml', bootstrap, '--use-dynamic-base-id');
    await command.says(/starting main dispatch loop/);
    assert.equal((await command.end()).code, 0);
    for (const name of ['admin', 'listener']) {
      assert.ok(statSync(join(folder, name)).isSocket(), name);
    }
  }
});

test('an address that cannot be had is named once, with the reason', async (t) => {
  const listeners = [
    { name: 'l', address: { pipe: { path: '/nowhere/l' } }, filter_chains: [{ filters: [] }] },
  ];
  const refusals = [
    [{ static_resources: { listeners } }, "listener 'l': cannot bind '/nowhere/l': "],
    [admin({ pipe: { path: '/nowhere/a' } }), "admin server: cannot bind '/nowhere/a': "],
  ] as const;
  for (const [bootstrap, text] of refusals) {
    const config = JSON.stringify(bootstrap);
    const { code, stderr } = await runCommand(t, '--config-yaml', config, '--use-dynamic-base-id');

    assert.equal(code, 1);
    assert.ok(stderr.trimEnd().endsWith(`\n${text}No such file or directory`), stderr);
  }
  const elsewhere = JSON.stringify(admin(tcp('192.0.2.77', 9901)));
  const { stderr } = await runCommand(t, '--config-yaml', elsewhere, '--use-dynamic-base-id');
  assert.match(stderr, /cannot bind '192\.0\.2\.77:9901': Cannot assign requested address$/m);
});

for (const socket_options of [[], [option(SO_RCVBUF, 'STATE_PREBIND')]]) {
  test(`an admin server listens on a pipe, with ${socket_options.length} socket options`, async (t) => {
    const path = join(makeFolder(t), 'admin');
    const bootstrap = JSON.stringify(admin({ pipe: { path, mode: 0o620 } }, { socket_options }));
    const command = new Command(t, '--config-yaml', bootstrap, '--use-dynamic-base-id');
    await command.says(/starting main dispatch loop/);

    const status = await new Promise((resolve, reject) => {
      const asked = request({ socketPath: path, path: '/ready' }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.on('error', reject).end();
    });
    assert.equal(status, 200);
    assert.equal(statSync(path).mode & 0o777, 0o620);
  });
}
