// Our own relay that knows no HTTP: what the kernel's TCP costs on this machine (bench/floor).
import { buildTools } from '../../support/build.mjs';
import { startProcess, waitForPort } from '../../support/processes.mjs';

export const name = 'floor';

/** It pairs connections one to one: twice the descriptors, and nothing to learn from idle ones. */
export const isProxy = false;

export function missing(mode) {
  return mode === 'http' || mode === 'tcp' ? undefined : 'relays bytes: it knows no protocol';
}

export function version() {
  return 'a bare epoll relay';
}

export async function start({ origin, listenPort, cpus }) {
  const { floor } = buildTools(['floor']);
  const relay = startProcess(floor, [String(listenPort), String(origin.port)], { cpus });
  await waitForPort(listenPort, relay);
  return { pids: [relay.pid], stop: () => relay.stop() };
}
