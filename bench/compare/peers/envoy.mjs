// Envoy with one worker, on the very bootstrap that fairlead gets.
import { execFileSync } from 'node:child_process';
import { freePort, startProcess, waitForPort } from '../../support/processes.mjs';
import { findEnvoy } from '../install-envoy.mjs';
import { certificateFor } from '../certificate.mjs';
import { writeConfig } from '../template.mjs';
import { configOf } from '../workloads.mjs';

export const name = 'envoy';

export function missing() {
  return findEnvoy() ? undefined : 'not installed: node bench/compare/install-envoy.mjs';
}

export function version() {
  const text = execFileSync(findEnvoy(), ['--version'], { encoding: 'utf8' });
  return /version: \w+\/([^/]+)\//.exec(text)?.[1] ?? text.trim();
}

export async function start({ origin, listenPort, mode, cpus, directory }) {
  const config = writeConfig(`${configOf(mode)}.yaml`, directory, {
    listen_port: listenPort,
    origin_port: origin.port,
    admin_port: await freePort(),
    ...certificateFor(mode, directory),
  });
  const options = ['--concurrency', '1', '--disable-hot-restart', '--log-level', 'error'];
  const proxy = startProcess(findEnvoy(), ['-c', config, ...options], { cpus });
  await waitForPort(listenPort, proxy);
  return { pids: [proxy.pid], stop: () => proxy.stop() };
}
