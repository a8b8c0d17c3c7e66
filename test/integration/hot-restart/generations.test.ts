// Three generations at once, and the one in the middle is killed: the newest serves, alone, and the
// oldest drains on. What the oldest still counts is the newest's.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { address, says, toCluster, webBootstrap } from '../support/bootstraps.js';
import { listenerPort } from '../support/start-proxy.js';
import { Epochs, readStats } from './epochs.js';
import { freePort } from '../support/waits.js';

/** FAIRLEAD_TEST_KILLS=50 takes a few minutes. */
const KILLS = Number(process.env.FAIRLEAD_TEST_KILLS ?? 8);
const CONNECTIONS = 40;
const PATIENCE_MS = 5000;
const POLL_MS = 10;

/** Answers when it is told to. */
class PatientOrigin {
  readonly #server = createServer((_, response) => this.#asked(response));
  #asked: (response: ServerResponse) => void = () => undefined;
  /** Of the first request. */
  readonly response = new Promise<ServerResponse>((resolve) => (this.#asked = resolve));

  async start(t: TestContext): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      this.#server.close();
      this.#server.closeAllConnections();
    });
    return (this.#server.address() as AddressInfo).port;
  }
}

function textOf(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (incoming) => {
      let text = '';
      incoming.on('data', (part: Buffer) => (text += part.toString()));
      incoming.on('end', () => resolve(text));
    }).on('error', reject);
  });
}

/** Who answers on so many new connections. */
async function whoServes(port: number): Promise<readonly string[]> {
  const all = Array.from({ length: CONNECTIONS }, () => textOf(port, '/'));
  return [...new Set(await Promise.all(all))];
}

/**
 * All epochs have one admin address; each says its number. Who has a successor ends when it is told to,
 * or when that ends: never because starting the next ones took its time.
 */
class Generations {
  readonly epochs: Epochs;
  readonly #bootstrap: (says: string) => object;

  constructor(t: TestContext, adminPort: number, origin: number) {
    const admin = { address: address(adminPort) };
    this.#bootstrap = (text) => ({
      ...webBootstrap([toCluster('/slow', 'origin'), says('/', text)], { origin }),
      admin,
    });
    this.epochs = new Epochs(
      t,
      this.#bootstrap('0'),
      ...['--drain-time-s', '60', '--parent-shutdown-time-s', '60', '-l', 'info'],
    );
  }

  start(epoch: number): ReturnType<Epochs['start']> {
    this.epochs.configure(this.#bootstrap(String(epoch)));
    return this.epochs.start(epoch);
  }

  spawn(epoch: number): ReturnType<Epochs['spawn']> {
    this.epochs.configure(this.#bootstrap(String(epoch)));
    return this.epochs.spawn(epoch);
  }
}

async function killBusyFamilysMiddle(t: TestContext): Promise<void> {
  const origin = new PatientOrigin();
  const generations = new Generations(t, await freePort(), await origin.start(t));
  const oldest = await generations.start(0);
  const port = await listenerPort(oldest.adminUrl, 'web');
  const slow = textOf(port, '/slow');
  const response = await origin.response;
  const middle = await generations.start(1);
  const newest = await generations.start(2);
  await sleep(Math.random() * 50);
  await middle.command.end('SIGKILL');
  await oldest.command.says(/the process of epoch 1 is gone, this one has handed on: it drains/);

  assert.deepEqual(await whoServes(port), ['2'], newest.command.stderr);
  const after = await generations.start(3);
  assert.deepEqual(await whoServes(port), ['3']);
  response.end('at last');
  assert.equal(await slow, 'at last');
  assert.equal((await newest.command.end()).code, 0, newest.command.stderr);
  assert.equal((await oldest.command.ended).code, 0, oldest.command.stderr);
  const stats = await readStats(after.adminUrl, '^http.web.downstream_(rq_2xx|cx_active)$');
  assert.equal(stats.get('http.web.downstream_rq_2xx'), 1 + 2 * CONNECTIONS);
  assert.equal(stats.get('http.web.downstream_cx_active'), 0);
  assert.equal((await after.command.end()).code, 0, after.command.stderr);
}

test('the middle of three is killed: the oldest drains on, the newest has its counts and a successor', async (t) => {
  for (let i = 0; i < KILLS / 4; i += 1) await killBusyFamilysMiddle(t);
});

/** Who was there before has a moment to hear that it is to stop. */
async function servesAlone(port: number, epoch: string, describe: () => string): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  let serving = await whoServes(port);
  while (serving.join() !== epoch && Date.now() < end) {
    await sleep(POLL_MS);
    serving = await whoServes(port);
  }
  assert.deepEqual(serving, [epoch], describe());
}

/** `share` of a whole start after the newest was started. */
async function killWhileNewestStarts(t: TestContext, share: number): Promise<void> {
  const origin = new PatientOrigin();
  const generations = new Generations(t, await freePort(), await origin.start(t));
  const oldest = await generations.start(0);
  const port = await listenerPort(oldest.adminUrl, 'web');
  // Keeps the oldest from ending before the middle does.
  const slow = textOf(port, '/slow');
  const response = await origin.response;
  const middle = await generations.start(1);
  const newest = generations.spawn(2);
  await sleep(middle.startMs * share);
  await middle.command.end('SIGKILL');
  const point = `killed at ${Math.round(share * 100)} % of the newest's start`;
  await generations.epochs.untilLive(2, newest);

  await servesAlone(port, '2', () => `${point}\n${newest.stderr}\n${oldest.command.stderr}`);
  const after = await generations.start(3);
  await servesAlone(port, '3', () => point);
  response.end('at last');
  assert.equal(await slow, 'at last', point);
  assert.equal((await newest.end()).code, 0, `${point}\n${newest.stderr}`);
  assert.equal((await oldest.command.ended).code, 0, `${point}\n${oldest.command.stderr}`);
  assert.equal((await after.command.end()).code, 0, after.command.stderr);
}

test('the middle is killed while the newest starts: it becomes LIVE, and serves alone', async (t) => {
  for (let i = 0; i < KILLS; i += 1) {
    await killWhileNewestStarts(t, (i + Math.random()) / KILLS);
  }
});

test('both later ones are killed: the oldest does not serve again, and who connects waits for the next', async (t) => {
  const origin = new PatientOrigin();
  const generations = new Generations(t, await freePort(), await origin.start(t));
  const oldest = await generations.start(0);
  const port = await listenerPort(oldest.adminUrl, 'web');
  const slow = textOf(port, '/slow');
  const response = await origin.response;
  const middle = await generations.start(1);
  const newest = await generations.start(2);
  await middle.command.end('SIGKILL');
  await newest.command.says(/following the process of epoch 0: epoch 1 is gone/);
  await oldest.command.says(/epoch 1 is gone, this one has handed on: it drains/);
  await newest.command.end('SIGKILL');
  await oldest.command.says(/epoch 2 is gone, this one has handed on: it drains/);
  const waiting = whoServes(port);
  const after = await generations.start(3);

  assert.deepEqual(await waiting, ['3']);
  response.end('at last');
  assert.equal(await slow, 'at last');
  assert.equal((await after.command.end()).code, 0, after.command.stderr);
  assert.equal((await oldest.command.ended).code, 0, oldest.command.stderr);
});

test('whoever counts epochs may go on counting after one that died', async (t) => {
  const generations = new Generations(t, await freePort(), 1);
  const oldest = await generations.start(0);
  const port = await listenerPort(oldest.adminUrl, 'web');
  const killed = await generations.start(1);
  await killed.command.end('SIGKILL');
  await oldest.command.says(/the process of epoch 1 ended before this one: serving again/);
  await generations.start(2);

  assert.deepEqual(await whoServes(port), ['2']);
});

test('parent and child end at once: nothing of them is left in shared memory', async (t) => {
  for (let i = 0; i < KILLS; i += 1) {
    const generations = new Generations(t, await freePort(), 1);
    const both = [await generations.start(0), await generations.start(1)];
    const endings = await Promise.all(both.map(({ command }) => command.end()));

    assert.deepEqual(
      endings.map(({ code }) => code),
      [0, 0],
    );
    const { baseId } = generations.epochs;
    assert.ok(!existsSync(`/dev/shm/fairlead_shared_memory_${baseId}0`), `pair ${i}`);
  }
});
