// The load generators: wrk for HTTP/1, h2load for HTTP/2, our own tcp_load for TCP. All say the same
// about a run, but for percentiles, which h2load does not count.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildTools } from '../support/build.mjs';
import { runProcess } from '../support/processes.mjs';
import { findProgram } from '../support/system.mjs';
import { configOf, isOfH2load } from './workloads.mjs';

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
  if (mode === 'tcp') return undefined;
  if (isOfH2load(mode)) {
    return findProgram('h2load') === undefined
      ? 'h2load is not installed: apt-get install nghttp2-client'
      : undefined;
  }
  return findProgram('wrk') === undefined ? 'wrk is not installed: apt-get install wrk' : undefined;
}

/**
 * @param {import('./workloads.mjs').Workload} workload
 * @param {{port: number, seconds: number, cpus: string}} options
 * @returns {Promise<LoadResult>}
 */
export function runLoad(workload, options) {
  if (workload.mode === 'tcp') return runTcpLoad(workload, options);
  return isOfH2load(workload.mode) ? runH2load(workload, options) : runWrk(workload, options);
}

async function runWrk({ mode, connections, bodyBytes, headers = [] }, { port, seconds, cpus }) {
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
    ...headers.flatMap((header) => ['-H', header]),
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

async function runH2load({ mode, connections, streams, bodyBytes }, { port, seconds, cpus }) {
  const args = ['-t1', `-c${connections}`, `-m${streams}`, `-D${Math.max(1, Math.round(seconds))}`];
  const program = findProgram('h2load');
  if (mode === 'h2') {
    const url = `https://127.0.0.1:${port}/${bodyBytes}`;
    return readH2load(await runProcess(program, [...args, url], { cpus }));
  }
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-h2load-'));
  try {
    const message = join(directory, 'message');
    writeFileSync(message, grpcMessage(100));
    const headers = ['-H', 'content-type: application/grpc', '-H', 'te: trailers'];
    const url = `http://127.0.0.1:${port}/grpc/${bodyBytes}`;
    return readH2load(
      await runProcess(program, [...args, '-d', message, ...headers, url], { cpus }),
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** As gRPC has it: not compressed, its length, its bytes. */
function grpcMessage(bytes) {
  const message = Buffer.alloc(5 + bytes, 'x');
  message.writeUInt8(0, 0);
  message.writeUInt32BE(bytes, 1);
  return message;
}

/** @returns {LoadResult} */
export function readH2load(text) {
  const finished = /^finished in ([\d.]+)(us|ms|s|m), /m.exec(text);
  const counts = /^requests: .* (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout$/m.exec(
    text,
  );
  if (finished === null || counts === null) throw new Error(`h2load said something else: ${text}`);
  const [requests, failed, , timeout] = counts.slice(1).map(Number);
  return {
    requests,
    seconds: inMicros(finished[1], finished[2]) / 1e6,
    p50Us: NaN,
    p99Us: NaN,
    // Those that errored are among those that failed.
    failed: failed + timeout,
  };
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
