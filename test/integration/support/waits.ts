// What stories wait for, and where nobody listens.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 10_000;
const POLL_MS = 10;

/** Rejects, with `what`, when it does not hold within 10 s. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what = String(holds),
): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    assert.ok(Date.now() < end, `not within ${PATIENCE_MS} ms: ${what}`);
    await sleep(POLL_MS);
  }
}

/** On 127.0.0.1. Nobody has it now: a process that is started later may be given it before it is used. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
