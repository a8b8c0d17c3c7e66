// fairlead itself, with one worker. Its figures include Node's thread, which also runs admin and
// configuration.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandPath, root } from '../../support/paths.mjs';
import { freePort, startProcess, waitForPort } from '../../support/processes.mjs';
import { certificateFor } from '../certificate.mjs';
import { writeConfig } from '../template.mjs';
import { configOf } from '../workloads.mjs';

export const name = 'fairlead';

export function missing() {
  return existsSync(commandPath) ? undefined : 'dist/cli.js is not built: npm run build';
}

export function version() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}

export function start(options) {
  return startCommand(commandPath, options);
}

/** That build of it: the path of its dist/cli.js. */
export async function startCommand(command, { origin, listenPort, mode, cpus, directory }) {
  const config = writeConfig(`${configOf(mode)}.yaml`, directory, {
    listen_port: listenPort,
    origin_port: origin.port,
    admin_port: await freePort(),
    ...certificateFor(mode, directory),
  });
  const options = ['--concurrency', '1', '--disable-hot-restart', '--log-level', 'error'];
  const proxy = startProcess(process.execPath, [command, '-c', config, ...options], { cpus });
  await waitForPort(listenPort, proxy);
  return { pids: [proxy.pid], stop: () => proxy.stop() };
}
