// Clients that begin a handshake and leave it there.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect as connectRaw, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { says, webBootstrap } from './support/bootstraps.js';
import { downstream, get, secureWeb, type Bootstrap } from './support/secure-web.js';
import { listenerPort, startProxy } from './support/start-proxy.js';

/** What a client says first. */
async function clientHello(): Promise<Buffer> {
  return new Promise((resolve) => {
    const wire = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer) => resolve(chunk),
    });
    connect({ socket: wire, servername: 'server.test' }).on('error', () => undefined);
  });
}

function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

// OpenSSL keeps 16 KiB for messages and 8 KiB for its answer from the first byte of a handshake on.
test('a thousand half-finished handshakes cost at most 64 KiB each, and end in time', async (t) => {
  const FLOOD = 1000;
  const hello = await clientHello();
  const bootstrap = secureWeb(webBootstrap([says('/', 'hello')]), downstream()) as Bootstrap;
  const [listener] = bootstrap.static_resources.listeners;
  const [chain] = (listener as { filter_chains: Record<string, unknown>[] }).filter_chains;
  assert.ok(chain);
  chain['transport_socket_connect_timeout'] = '12s';
  const proxy = await startProxy(t, bootstrap);
  const port = await listenerPort(proxy.adminUrl, 'web');
  await get(port);
  const before = residentBytes(proxy.command.process.pid ?? 0);
  const sockets: Socket[] = [];
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  let ended = 0;
  for (let i = 0; i < FLOOD; i += 1) {
    const socket = connectRaw(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined).on('close', () => (ended += 1));
    socket.resume();
    // Half of them have not even said all of their first words.
    socket.write(i % 2 === 0 ? hello : hello.subarray(0, hello.length >> 1));
    if (i % 50 === 0) await sleep(5);
  }
  await sleep(500);
  const each = (residentBytes(proxy.command.process.pid ?? 0) - before) / FLOOD;
  assert.ok(each < 64 * 1024, `${Math.round(each)} bytes each`);
  // Others are served meanwhile.
  assert.equal((await get(port)).body, 'hello');
  assert.equal(ended, 0);
  for (let i = 0; i < 400 && ended < FLOOD; i += 1) await sleep(100);
  assert.equal(ended, FLOOD);
  const name = 'downstream_cx_transport_socket_connect_timeout';
  const page = await (await fetch(`${proxy.adminUrl}/stats?filter=${name}`)).text();
  assert.match(page, new RegExp(`${name}: ${FLOOD}\\n`));
});
