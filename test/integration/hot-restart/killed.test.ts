// One of two processes is killed somewhere in their conversation: the other one serves, and the next
// restart works.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { says, webBootstrap } from '../support/bootstraps.js';
import { listenerPort } from '../support/start-proxy.js';
import { Epochs, type RunningEpoch } from './epochs.js';

/** FAIRLEAD_TEST_KILLS=50 takes a few minutes. */
const KILLS = Number(process.env.FAIRLEAD_TEST_KILLS ?? 8);
const PATIENCE_MS = 5000;
const POLL_MS = 10;

async function serves(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
    return (await answer.text()) === 'here';
  } catch {
    return false;
  }
}

/** The survivor may have to take back first what it had handed over. */
async function comesToServe(port: number): Promise<boolean> {
  const end = Date.now() + PATIENCE_MS;
  while (Date.now() < end) {
    if (await serves(port)) return true;
    await sleep(POLL_MS);
  }
  return false;
}

/** Kills one of them, `share` of a whole start after the successor was started. */
async function killDuring(
  t: TestContext,
  killed: 'parent' | 'child',
  share: number,
): Promise<void> {
  const epochs = new Epochs(
    t,
    webBootstrap([says('/', 'here')]),
    ...['--drain-time-s', '1', '--parent-shutdown-time-s', '2', '-l', 'warning'],
  );
  const first = await epochs.start(0, '--concurrency', '2');
  let port = await listenerPort(first.adminUrl, 'web');
  const child = epochs.spawn(1, '--concurrency', '1');
  await sleep(first.startMs * share);
  const victim = killed === 'parent' ? first.command : child;
  await victim.end('SIGKILL');

  const point = `${killed} killed at ${Math.round(share * 100)} % of a start`;
  let serving: Pick<RunningEpoch, 'command'> = first;
  if (killed === 'parent') {
    // Before it was given the socket it binds another: the bootstrap's port is 0.
    port = await listenerPort(await epochs.untilLive(1, child), 'web');
    serving = { command: child };
  }
  assert.ok(await comesToServe(port), `${point}: nobody serves\n${serving.command.stderr}`);
  const next = await epochs.start(killed === 'parent' ? 2 : 1);
  assert.ok(await comesToServe(port), `${point}: the next one does not serve`);
  assert.equal((await serving.command.ended).code, 0, serving.command.stderr);
  assert.equal((await next.command.end()).code, 0, next.command.stderr);
}

for (const killed of ['parent', 'child'] as const) {
  test(`the ${killed} may be killed at any moment`, async (t) => {
    for (let i = 0; i < KILLS / 2; i += 1) {
      await killDuring(t, killed, (i + Math.random()) / (KILLS / 2 - 1 || 1));
    }
  });
}
