// Hot restarts of fairlead under fairlead-hot-restarter.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { says, webBootstrap } from '../support/bootstraps.js';
import { makeFolder } from '../support/start-proxy.js';
import { Restarter } from './support.js';
import { freePort } from '../support/waits.js';

class Service {
  readonly restarter: Restarter;
  readonly #folder: string;

  constructor(
    t: TestContext,
    readonly port: number,
  ) {
    this.#folder = makeFolder(t);
    this.deploy('version 0');
    const files = ['-c', this.#path('bootstrap.json'), '--admin-address-path', this.#path('admin')];
    const options = ['--use-dynamic-base-id', '--concurrency', '1'];
    this.restarter = new Restarter(t, [...files, ...options]);
  }

  /** The next bootstrap answers with this. */
  deploy(text: string): void {
    const bootstrap = webBootstrap([says('/', text)], {}, this.port);
    writeFileSync(this.#path('bootstrap.json'), JSON.stringify(bootstrap));
  }

  spoil(): void {
    writeFileSync(this.#path('bootstrap.json'), '{"nope": 1}');
  }

  /** What a client is answered that has a connection of its own. */
  async answer(): Promise<string> {
    const headers = { connection: 'close' };
    return (await fetch(`http://127.0.0.1:${this.port}/`, { headers })).text();
  }

  async epoch(): Promise<number> {
    const address = readFileSync(this.#path('admin'), 'utf8');
    const info = await (await fetch(`http://${address}/server_info`)).json();
    const options = (info as { command_line_options: { restart_epoch: number } })
      .command_line_options;
    return options.restart_epoch;
  }

  hangUp(): void {
    this.restarter.process.kill('SIGHUP');
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

/** Nobody listens on it now. */

test('each SIGHUP brings what the bootstrap says by then, and no client is refused', async (t) => {
  const service = new Service(t, await freePort());
  await service.restarter.live(0);
  const strange: string[] = [];
  let answered = 0;
  let isOver = false;
  const client = (async () => {
    for (; !isOver; answered += 1) {
      const answer = await service.answer();
      if (!/^version [0-3]$/.test(answer)) strange.push(answer);
    }
  })();
  for (const epoch of [1, 2, 3]) {
    service.deploy(`version ${epoch}`);
    service.hangUp();
    await service.restarter.live(epoch);
    assert.equal(await service.answer(), `version ${epoch}`);
    assert.equal(await service.epoch(), epoch);
  }
  isOver = true;
  await client;

  assert.ok(answered > 0);
  assert.deepEqual(strange, []);
  assert.equal((await service.restarter.end()).code, 0);
});

test('a bootstrap that is wrong leaves the one before serving; mended, it is served', async (t) => {
  const service = new Service(t, await freePort());
  await service.restarter.live(0);
  service.spoil();
  service.hangUp();
  await service.restarter.says(/epoch 0 \(pid \d+\) serves on; epoch 1 did not become LIVE/);
  assert.equal(await service.answer(), 'version 0');
  service.deploy('mended');
  service.hangUp();
  await service.restarter.live(1);

  assert.equal(await service.answer(), 'mended');
});

test('the successor is killed: the one before serves again, and its next successor takes over', async (t) => {
  const service = new Service(t, await freePort());
  await service.restarter.live(0);
  service.deploy('version 1');
  service.hangUp();
  process.kill(await service.restarter.live(1), 'SIGKILL');
  await service.restarter.says(/epoch 0 \(pid \d+\) serves again/);
  assert.equal(await service.answer(), 'version 0');
  service.hangUp();
  await service.restarter.says(/(epoch 1 \(pid \d+\) is LIVE[^]*){2}/);

  assert.equal(await service.answer(), 'version 1');
});
