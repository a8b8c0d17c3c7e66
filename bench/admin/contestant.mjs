// fairlead or Envoy with many clusters, an origin behind it, and what they are asked.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findEnvoy } from '../compare/install-envoy.mjs';
import { commandPath } from '../support/paths.mjs';
import { firstLine, freePort, startProcess } from '../support/processes.mjs';
import { makeAdminBootstrap } from './bootstrap.mjs';

const OPTIONS = ['--concurrency', '1', '--disable-hot-restart', '--log-level', 'error'];
const LIVE_TIMEOUT_MS = 120_000;
const POLL_MS = 20;

/** Of those that are there. */
export function contestantNames() {
  return [existsSync(commandPath) && 'fairlead', findEnvoy() !== undefined && 'envoy'].filter(
    Boolean,
  );
}

/** Runs on CPU `cpus`, with an origin of its own. */
export async function startContestant(name, { clusters, cpus, originProgram }) {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-admin-bench-'));
  const origin = startProcess(originProgram, ['0']);
  const originPort = Number(await firstLine(origin));
  const adminPort = await freePort();
  const listenPort = await freePort();
  const config = join(directory, 'bootstrap.json');
  writeFileSync(config, makeAdminBootstrap(clusters, { listenPort, adminPort, originPort }));
  const delayFile = join(directory, 'delay.json');
  const probe = fileURLToPath(new URL('watch-delay.mjs', import.meta.url));
  const [command, args] =
    name === 'fairlead' ? [process.execPath, ['--import', probe, commandPath]] : [findEnvoy(), []];
  const proxy = startProcess(command, [...args, '-c', config, ...OPTIONS], {
    cpus,
    env: { ...process.env, FAIRLEAD_BENCH_DELAY: delayFile },
  });
  await untilLive(adminPort, proxy);
  return {
    name,
    adminPort,
    listenPort,
    pid: proxy.pid,
    /** What the control thread was held up since the last call; undefined for Envoy. */
    async delay() {
      if (name !== 'fairlead') return undefined;
      rmSync(delayFile, { force: true });
      process.kill(proxy.pid, 'SIGUSR2');
      while (!existsSync(delayFile) || readFileSync(delayFile, 'utf8') === '') await sleep(POLL_MS);
      return JSON.parse(readFileSync(delayFile, 'utf8'));
    },
    async stop() {
      await proxy.stop();
      await origin.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function untilLive(port, proxy) {
  const end = Date.now() + LIVE_TIMEOUT_MS;
  while (Date.now() < end) {
    if (proxy.child.exitCode !== null)
      throw new Error(`did not start: ${proxy.errors().trim().slice(-500)}`);
    try {
      if ((await fetchPage(port, '/ready')).status === 200) return;
    } catch {
      // Nobody listens yet.
    }
    await sleep(POLL_MS);
  }
  throw new Error(`not LIVE after ${LIVE_TIMEOUT_MS / 1000} s`);
}

/**
 * The whole answer, and how long it took.
 * @param {number} port
 * @param {string} path
 * @param {{keepText?: boolean, agent?: import('node:http').Agent, accept?: string}} [options]
 */
export function fetchPage(port, path, { keepText = false, agent = false, accept } = {}) {
  const startedMs = performance.now();
  const headers = accept === undefined ? {} : { accept };
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, agent, headers }, (response) => {
      let bytes = 0;
      let text = '';
      response.on('data', (chunk) => {
        bytes += chunk.length;
        if (keepText) text += chunk;
      });
      response.on('error', reject);
      response.on('end', () => {
        if (!response.complete) reject(new Error(`${path}: the answer was cut off`));
        const ms = performance.now() - startedMs;
        resolve({ status: response.statusCode, bytes, ms, text });
      });
    });
    request.on('error', reject);
  });
}
