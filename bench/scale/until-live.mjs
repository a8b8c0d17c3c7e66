// Asks an admin server for /ready until it says LIVE: as often as it can without keeping a CPU from
// the one that is asked.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const TIMEOUT_MS = 120_000;
const POLL_MS = 1;
const REQUEST = 'GET /ready HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';

/** Rejects when the process ends before, or takes too long. */
export async function untilLive(port, proxy) {
  const end = Date.now() + TIMEOUT_MS;
  while (Date.now() < end) {
    if (proxy.child.exitCode !== null)
      throw new Error(`did not start: ${proxy.errors().trim().slice(-500)}`);
    if ((await ready(port)).startsWith('HTTP/1.1 200')) return;
    await sleep(POLL_MS);
  }
  throw new Error(`not LIVE after ${TIMEOUT_MS / 1000} s`);
}

/** The beginning of the answer; empty while nobody answers. */
function ready(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(REQUEST));
    const settle = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('data', (bytes) => settle(bytes.toString('latin1')));
    socket.on('error', () => settle(''));
    socket.on('close', () => settle(''));
  });
}
