// One measurement: a peer freshly started, warmed, loaded, and asked what it used.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuTimes, freePort, residentBytes } from '../support/processes.mjs';
import { runLoad } from './load.mjs';

const WARM_UP_SECONDS = 1;

/**
 * @typedef {object} Sample
 * @property {number} requestsPerSecond
 * @property {number} cpuMicrosPerRequest user and system time of all the proxy's threads
 * @property {number} userMicrosPerRequest what of it is not the kernel's
 * @property {number} p50Us
 * @property {number} p99Us
 * @property {number} residentBytes after the load
 * @property {number} failed
 */

/**
 * @param {import('./peers/index.mjs').Peer} peer
 * @param {import('./workloads.mjs').Workload} workload
 * @param {{origin: {port: number}, seconds: number, proxyCpus: string, loadCpus: string}} setup
 * @returns {Promise<Sample>}
 */
export async function measure(peer, workload, { origin, seconds, proxyCpus, loadCpus }) {
  return withPeer(peer, { origin, mode: workload.mode, cpus: proxyCpus }, (started, port) =>
    measureStarted(started.pids, workload, { port, seconds, cpus: loadCpus }),
  );
}

/** Of a proxy that has started. @returns {Promise<Sample>} */
export async function measureStarted(pids, workload, { port, seconds, cpus }) {
  await runLoad(workload, { port, seconds: WARM_UP_SECONDS, cpus });
  const before = cpuTimes(pids);
  const load = await runLoad(workload, { port, seconds, cpus });
  const after = cpuTimes(pids);
  const user = after.user - before.user;
  return {
    requestsPerSecond: load.requests / load.seconds,
    cpuMicrosPerRequest: (user + after.system - before.system) / load.requests,
    userMicrosPerRequest: user / load.requests,
    p50Us: load.p50Us,
    p99Us: load.p99Us,
    residentBytes: residentBytes(pids),
    failed: load.failed,
  };
}

/** Runs `use` against a peer of its own that is stopped afterwards, whatever happens. */
export async function withPeer(peer, { origin, mode, cpus }, use) {
  return withDirectory(async (directory) => {
    const listenPort = await freePort();
    const started = await peer.start({ origin, listenPort, mode, cpus, directory });
    try {
      return await use(started, listenPort);
    } finally {
      await started.stop();
    }
  });
}

/** Of a proxy, for its files. */
export async function withDirectory(use) {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-bench-'));
  try {
    return await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
