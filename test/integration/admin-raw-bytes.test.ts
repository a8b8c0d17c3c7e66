// Raw bytes, made from a seed, against the admin server: whoever speaks HTTP for it, nothing ends it,
// nothing keeps it busy, and nothing comes to light that would be a bug. FAIRLEAD_RAW_REQUESTS says how
// many; 50,000 take some minutes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from './support/random.js';
import { says, webBootstrap } from './support/bootstraps.js';
import { RawBytes } from './support/raw-bytes.js';
import { startProxy } from './support/start-proxy.js';
import { withoutUws } from './support/without-uws.js';
import { closing } from '../unit/support/closing.js';

const REQUESTS = Number(process.env.FAIRLEAD_RAW_REQUESTS ?? 2000);
const SEED = Number(process.env.FAIRLEAD_SEED ?? 20_261_122);
const AT_ONCE = 8;
/** From the last byte to the end of the connection. */
const MAX_MS = 1000;

/** How long the server took to be done with it: milliseconds. */
async function send(port: number, pieces: readonly Buffer[]): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  // What is refused before it was read to its end may be reset.
  socket.on('error', () => undefined);
  socket.resume();
  const closed = closing(socket);
  await once(socket, 'connect');
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await sleep(1);
    socket.write(piece);
  }
  socket.end();
  const began = performance.now();
  await closed;
  return performance.now() - began;
}

for (const name of ['uWebSockets.js', 'node:http']) {
  test(`${name}: no bytes end the admin server or keep it busy`, async (t) => {
    if (name === 'node:http') withoutUws(t);
    const bootstrap = {
      ...webBootstrap([says('/', 'yes')], { origin: 1 }),
      layered_runtime: { layers: [{ name: 'admin', admin_layer: {} }] },
    };
    const proxy = await startProxy(t, bootstrap, '-l', 'info');
    await proxy.command.says(/admin server by /);
    if (!proxy.command.stderr.includes(`admin server by ${name}`)) {
      t.skip('no binary fits this Node and this C library');
      return;
    }
    const port = Number(new URL(proxy.adminUrl).port);
    const bytes = new RawBytes(randomFrom(SEED));
    let number = 0;
    const sendSome = async (): Promise<void> => {
      while (number < REQUESTS) {
        const index = (number += 1);
        const pieces = bytes.next();
        const ms = await send(port, pieces);
        const shown = JSON.stringify(Buffer.concat(pieces).toString('latin1').slice(0, 300));
        assert.ok(ms < MAX_MS, `bytes ${index} of seed ${SEED}: ${ms} ms: ${shown}`);
        assert.equal(proxy.command.process.exitCode, null, `bytes ${index}: ${shown}`);
      }
    };
    const look = async (): Promise<void> => {
      while (number < REQUESTS) {
        const began = performance.now();
        assert.equal((await fetch(`${proxy.adminUrl}/memory`)).status, 200);
        const ms = performance.now() - began;
        assert.ok(ms < MAX_MS, `after ${number} of seed ${SEED} /memory took ${ms} ms`);
        await sleep(5);
      }
    };
    await Promise.all([look(), ...Array.from({ length: AT_ONCE }, sendSome)]);

    const stats = await (await fetch(`${proxy.adminUrl}/stats?filter=bug_failures`)).text();
    assert.equal(stats, 'server.envoy_bug_failures: 0\n', proxy.command.stderr);
    assert.equal(await (await fetch(await proxy.listenerUrl('web'))).text(), 'yes');
    assert.equal((await proxy.command.end()).code, 0);
  });
}
