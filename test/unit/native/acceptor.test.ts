import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { packageRoot } from '../../../src/base/package-root.js';
import { loadAddon, type Acceptor } from '../../../src/native.js';
import { closing } from '../support/closing.js';

interface Accepting {
  readonly acceptor: Acceptor;
  readonly port: number;
  readonly accepted: (readonly [fd: number, remote: string, local: string])[];
}

function accepting(t: TestContext): Accepting {
  const addon = loadAddon();
  const { fd, address } = addon.openListenSocket('127.0.0.1:0', 0, []);
  const accepted: Accepting['accepted'] = [];
  const acceptor = addon.acceptConnections(fd, (...connection) => accepted.push(connection));
  t.after(() => {
    acceptor.close();
    for (const [connection] of accepted) closeSync(connection);
  });
  return { acceptor, port: Number(address.split(':')[1]), accepted };
}

async function client(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

test('a connection comes as a descriptor, with the addresses of both ends', async (t) => {
  const { accepted, port } = accepting(t);
  const { localPort } = await client(t, port);
  while (accepted.length === 0) await turn();

  const [[fd, remote, local] = [-1, '', '']] = accepted;
  assert.ok(fd >= 0);
  assert.deepEqual([remote, local], [`127.0.0.1:${localPort}`, `127.0.0.1:${port}`]);
});

test('what has come is known whether it was read or not, and an end is nothing that came', async (t) => {
  const addon = loadAddon();
  const { accepted, port } = accepting(t);
  const socket = await client(t, port);
  while (accepted.length === 0) await turn();
  const [[fd] = [-1]] = accepted;
  assert.equal(addon.receivedBytes(fd), 0);
  socket.end('seven b');
  while (addon.receivedBytes(fd) === 0) await turn();
  await turn();

  assert.equal(addon.receivedBytes(fd), 7);
  assert.equal(addon.receivedBytes(-1), 0);
});

test('connections wait while nobody accepts, and are accepted before a close if that is asked for', async (t) => {
  const { acceptor, accepted, port } = accepting(t);
  acceptor.pause();
  await client(t, port);
  await turn();
  assert.equal(accepted.length, 0);
  acceptor.resume();
  while (accepted.length === 0) await turn();
  acceptor.pause();
  await client(t, port);
  acceptor.closeWhenAccepted();

  assert.equal(accepted.length, 2);
  await assert.rejects(once(connect(port, '127.0.0.1'), 'connect'));
});

/** Serves one line each, and opens so many files when it is told to. */
const SERVER = `
const { closeSync, openSync } = require('node:fs');
const { Socket } = require('node:net');
const addon = require(process.argv[1]);
const { fd, address } = addon.openListenSocket('127.0.0.1:0', 0, []);
addon.acceptConnections(fd, (connection) => new Socket({ fd: connection }).end('hello'));
let files = [];
process.on('SIGUSR2', () => {
  try {
    for (;;) files.push(openSync('/dev/null'));
  } catch {
    console.log('full');
  }
});
process.on('SIGWINCH', () => {
  files.forEach(closeSync);
  console.log('free');
});
setInterval(() => undefined, 1000);
console.log(address);
`;

test('whoever comes when there is no descriptor left is sent away, and others are served later', async (t) => {
  const addon = join(packageRoot(), 'dist', 'fairlead.node');
  const limited = 'ulimit -n 64; exec "$0" -e "$1" "$2"';
  const server = spawn('sh', ['-c', limited, process.execPath, SERVER, addon], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => server.kill('SIGKILL'));
  const lines = createInterface(server.stdout)[Symbol.asyncIterator]();
  const said = async (): Promise<string> => String((await lines.next()).value);
  const port = Number((await said()).split(':')[1]);
  const ask = async (): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    let text = '';
    socket.on('data', (bytes) => (text += String(bytes)));
    await closing(socket);
    return text;
  };
  assert.equal(await ask(), 'hello');
  server.kill('SIGUSR2');
  assert.equal(await said(), 'full');
  assert.equal(await ask(), '');
  server.kill('SIGWINCH');
  assert.equal(await said(), 'free');

  assert.equal(await ask(), 'hello');
});
