// What an idle client costs: keep-alive connections that had one answer each and then say nothing.
// The slope between a small and a large crowd leaves out what the proxy needs anyway.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildTools } from '../support/build.mjs';
import { residentBytes, startProcess } from '../support/processes.mjs';
import { descriptorLimit } from '../support/system.mjs';
import { withPeer } from './measure.mjs';

const FEW = 1_000;
const SETTLE_MS = 500;
const tlsCrowd = fileURLToPath(new URL('idle-tls-crowd.mjs', import.meta.url));

/** As many connections as every peer can take: some reserve two descriptors for each client. */
export function mostIdle() {
  return Math.floor((descriptorLimit() - 400) / 2);
}

/**
 * @param {import('./peers/index.mjs').Peer} peer
 * @param {{origin: {port: number}, mode: 'http' | 'https', connections: number, proxyCpus: string,
 *   loadCpus: string}} setup
 * @returns {Promise<{connections: number, residentBytes: number, bytesPerConnection: number}>}
 */
export async function measureIdle(peer, { origin, mode, connections, proxyCpus, loadCpus }) {
  const [program, ...args] = crowdOf(mode);
  return withPeer(peer, { origin, mode, cpus: proxyCpus }, async (started, port) => {
    const crowd = startProcess(program, [...args, String(port), '/100'], { cpus: loadCpus });
    try {
      await growTo(crowd, FEW);
      const few = residentBytes(started.pids);
      await growTo(crowd, connections);
      const many = residentBytes(started.pids);
      const bytesPerConnection = (many - few) / (connections - FEW);
      return { connections, residentBytes: many, bytesPerConnection };
    } finally {
      crowd.child.stdin.end();
      await crowd.stop();
    }
  });
}

function crowdOf(mode) {
  return mode === 'https' ? [process.execPath, tlsCrowd] : [buildTools(['idleHold']).idleHold];
}

async function growTo(crowd, count) {
  const reached = new Promise((resolve, reject) => {
    crowd.child.stdout.once('data', resolve);
    crowd.child.once('close', () =>
      reject(new Error(`idle connections: ${crowd.errors().trim()}`)),
    );
  });
  crowd.child.stdin.write(`${count}\n`);
  await reached;
  await sleep(SETTLE_MS);
}
