// nginx with one worker; its master process is counted along.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { descriptorLimit, findProgram } from '../../support/system.mjs';
import { processTree, startProcess, waitForPort } from '../../support/processes.mjs';
import { certificateFor } from '../certificate.mjs';
import { writeConfig } from '../template.mjs';
import { configOf } from '../workloads.mjs';

export const name = 'nginx';

const program = findProgram('nginx');

export function missing(mode) {
  if (program === undefined) return 'not installed: apt-get install nginx';
  if (mode === 'tcp' && streamModule() === undefined) {
    return 'has no stream module: apt-get install libnginx-mod-stream';
  }
  if (mode === 'transcode') return 'knows no JSON of gRPC';
  if (mode === 'h2-origin') return 'speaks HTTP/2 with origins of gRPC alone';
  return undefined;
}

export function version() {
  return /nginx\/(\S+)/.exec(buildText())?.[1];
}

/** What nginx -V says: on standard error. */
function buildText() {
  return execFileSync('sh', ['-c', `'${program}' -V 2>&1`], { encoding: 'utf8' });
}

/** The directive that loads the stream module, "" when it is built in, undefined without one. */
function streamModule() {
  const text = buildText();
  if (!text.includes('--with-stream=dynamic'))
    return text.includes('--with-stream') ? '' : undefined;
  const path = `${/--modules-path=(\S+)/.exec(text)?.[1]}/ngx_stream_module.so`;
  return existsSync(path) ? `load_module ${path};` : undefined;
}

export async function start({ origin, listenPort, mode, cpus, directory }) {
  const config = writeConfig(`nginx.${configOf(mode)}.conf`, directory, {
    listen_port: listenPort,
    origin_port: origin.port,
    ...certificateFor(mode, directory),
    directory,
    descriptors: descriptorLimit(),
    load_stream_module: mode === 'tcp' ? streamModule() : '',
  });
  const proxy = startProcess(program, ['-p', directory, '-c', config], { cpus });
  await waitForPort(listenPort, proxy);
  return { pids: await masterAndWorker(proxy.pid), stop: () => proxy.stop() };
}

/** The port is open before there is a worker. */
async function masterAndWorker(pid) {
  for (let i = 0; i < 500; ++i) {
    const pids = processTree(pid);
    if (pids.length > 1) return pids;
    await sleep(10);
  }
  throw new Error('nginx has no worker');
}
