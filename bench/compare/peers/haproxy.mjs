// HAProxy with one thread.
import { execFileSync } from 'node:child_process';
import { descriptorLimit, findProgram } from '../../support/system.mjs';
import { startProcess, waitForPort } from '../../support/processes.mjs';
import { certificateFor } from '../certificate.mjs';
import { writeConfig } from '../template.mjs';
import { configOf } from '../workloads.mjs';

export const name = 'haproxy';

const program = findProgram('haproxy');

export function missing(mode) {
  if (mode === 'transcode') return 'knows no JSON of gRPC';
  return program === undefined ? 'not installed: apt-get install haproxy' : undefined;
}

export function version() {
  const text = execFileSync(program, ['-v'], { encoding: 'utf8' });
  return /version (\d[\d.]*)/.exec(text)?.[1];
}

export async function start({ origin, listenPort, mode, cpus, directory }) {
  const config = writeConfig(`haproxy.${configOf(mode)}.cfg`, directory, {
    listen_port: listenPort,
    origin_port: origin.port,
    ...certificateFor(mode, directory),
    // It wants two descriptors for each, two more for a pipe when it splices, and some of its own.
    connections: Math.floor((descriptorLimit() - 200) / (mode === 'tcp' ? 4 : 2)),
  });
  const proxy = startProcess(program, ['-db', '-f', config], { cpus });
  await waitForPort(listenPort, proxy);
  return { pids: [proxy.pid], stop: () => proxy.stop() };
}
