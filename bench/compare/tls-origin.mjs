// An origin that speaks TLS: nginx before the one that does not, on the CPUs of the load.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startProcess, waitForPort } from '../support/processes.mjs';
import { descriptorLimit, findProgram } from '../support/system.mjs';
import { makeCertificate } from './certificate.mjs';
import { writeConfig } from './template.mjs';

/** Why there is none; undefined: there is. */
export function missingTlsOrigin() {
  return findProgram('nginx') === undefined
    ? 'an origin over TLS is nginx, which is not installed: apt-get install nginx'
    : undefined;
}

/** @returns {Promise<{port: number, stop(): Promise<void>}>} */
export async function startTlsOrigin(port, cpus) {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-tls-origin-'));
  const listenPort = await freePort();
  const config = writeConfig('tls-server.conf', directory, {
    listen_port: listenPort,
    origin_port: port,
    directory,
    descriptors: descriptorLimit(),
    ...makeCertificate(directory),
  });
  const server = startProcess(findProgram('nginx'), ['-p', directory, '-c', config], { cpus });
  await waitForPort(listenPort, server);
  return {
    port: listenPort,
    stop: async () => {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
