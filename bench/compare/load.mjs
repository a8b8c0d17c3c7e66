// The load generators: wrk for HTTP, our own tcp_load for TCP. Both say the same about a run.
import { buildTools } from '../support/build.mjs';
import { runProcess } from '../support/processes.mjs';
import { findProgram } from '../support/system.mjs';
import { configOf } from './workloads.mjs';

/**
 * @typedef {object} LoadResult
 * @property {number} requests answered
 * @property {number} seconds
 * @property {number} p50Us
 * @property {number} p99Us
 * @property {number} failed requests or connections that came to nothing
 */

/** Why no load can be made; undefined when it can. */
export function missingLoad(mode) {
  if (mode !== 'tcp' && findProgram('wrk') === undefined)
    return 'wrk is not installed: apt-get install wrk';
  return undefined;
}

/**
 * @param {import('./workloads.mjs').Workload} workload
 * @param {{port: number, seconds: number, cpus: string}} options
 * @returns {Promise<LoadResult>}
 */
export function runLoad(workload, options) {
  return workload.mode === 'tcp' ? runTcpLoad(workload, options) : runWrk(workload, options);
}

async function runWrk({ mode, connections, bodyBytes }, { port, seconds, cpus }) {
  const scheme = configOf(mode) === 'https' ? 'https' : 'http';
  const url = `${scheme}://127.0.0.1:${port}/${bodyBytes}`;
  const once = mode === 'handshake' ? ['-H', 'Connection: close'] : [];
  // wrk counts in whole seconds.
  const duration = Math.max(1, Math.round(seconds));
  const args = [
    '-t1',
    `-c${connections}`,
    `-d${duration}s`,
    '--timeout',
    '10s',
    '--latency',
    ...once,
    url,
  ];
  return readWrk(await runProcess(findProgram('wrk'), args, { cpus }));
}

/** @returns {LoadResult} */
export function readWrk(text) {
  const counts = /(\d+) requests in ([\d.]+)(ms|s|m),/.exec(text);
  if (counts === null) throw new Error(`wrk said something else: ${text}`);
  const errors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text);
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(text);
  const socketErrors = (errors?.slice(1) ?? []).reduce((sum, count) => sum + Number(count), 0);
  return {
    requests: Number(counts[1]),
    seconds: inMicros(counts[2], counts[3]) / 1e6,
    p50Us: percentile(text, 50),
    p99Us: percentile(text, 99),
    failed: socketErrors + Number(refused?.[1] ?? 0),
  };
}

function percentile(text, rank) {
  const found = new RegExp(`^\\s+${rank}%\\s+([\\d.]+)(us|ms|s|m)$`, 'm').exec(text);
  return found === null ? NaN : inMicros(found[1], found[2]);
}

function inMicros(number, unit) {
  return Number(number) * { us: 1, ms: 1e3, s: 1e6, m: 60e6 }[unit];
}

async function runTcpLoad({ connections, bodyBytes }, { port, seconds, cpus }) {
  const { tcpLoad } = buildTools(['tcpLoad']);
  const args = [port, `/${bodyBytes}`, connections, seconds].map(String);
  const {
    requests,
    seconds: elapsed,
    p50_us,
    p99_us,
    failed,
  } = JSON.parse(await runProcess(tcpLoad, args, { cpus }));
  return { requests, seconds: elapsed, p50Us: p50_us, p99Us: p99_us, failed };
}
