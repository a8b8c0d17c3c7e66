// npm run bench: autocannon against fairlead, with the origin of bench/origin behind it. Every
// latency goes into an HDR histogram, so the far percentiles are counted, not estimated.
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { availableParallelism } from 'node:os';
import autocannon from 'autocannon';
import { build } from 'hdr-histogram-js';
import { withPeer } from '../compare/measure.mjs';
import * as fairlead from '../compare/peers/fairlead.mjs';
import { buildTools } from '../support/build.mjs';
import { machineLine } from '../support/machine.mjs';
import { cpuMicros, firstLine, residentBytes, startProcess } from '../support/processes.mjs';
import { figure, markdownTable } from '../support/table.mjs';

const USAGE = `usage: npm run bench -- [options]
  --connections N   keep-alive connections (64)
  --seconds N       length of the measurement (10)
  --bytes N         size of an answer (100)
  --pipelining N    requests on their way on one connection (1)`;

const WARM_UP_SECONDS = 2;
const PERCENTILES = [50, 75, 90, 99, 99.9, 99.99];

export async function run(args) {
  const number = (value) => ({ type: 'string', default: String(value) });
  const { values } = parseArgs({
    args,
    options: {
      connections: number(64),
      seconds: number(10),
      bytes: number(100),
      pipelining: number(1),
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const absent = fairlead.missing();
  if (absent !== undefined) {
    console.error(absent);
    return 1;
  }

  const cpus = shareCpus();
  const origin = startProcess(buildTools(['origin']).origin, ['0'], { cpus: cpus.load });
  try {
    const port = Number(await firstLine(origin));
    const setup = { origin: { port }, mode: 'http', cpus: cpus.proxy };
    await withPeer(fairlead, setup, (started, listenPort) => measure(started, listenPort, values));
    return 0;
  } finally {
    await origin.stop();
  }
}

/** The proxy gets the first CPU, this process and the origin the others, if there are any. */
function shareCpus() {
  const last = availableParallelism() - 1;
  if (last < 1) return {};
  const load = last === 1 ? '1' : `1-${last}`;
  execFileSync('taskset', ['-a', '-p', '-c', load, String(process.pid)], { stdio: 'ignore' });
  return { proxy: '0', load };
}

async function measure(started, port, { connections, seconds, bytes, pipelining }) {
  const load = {
    url: `http://127.0.0.1:${port}/${bytes}`,
    connections: Number(connections),
    pipelining: Number(pipelining),
  };
  await autocannon({ ...load, duration: WARM_UP_SECONDS });

  const latencies = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 60_000_000,
    numberOfSignificantValueDigits: 3,
  });
  const cpuBefore = cpuMicros(started.pids);
  const result = await fire({ ...load, duration: Number(seconds) }, latencies);
  const cpuUsed = cpuMicros(started.pids) - cpuBefore;
  print(result, latencies, {
    cpuPerRequest: cpuUsed / latencies.totalCount,
    resident: residentBytes(started.pids),
  });
}

/** One run of autocannon that records each latency, in µs, and says each second how it goes. */
function fire(options, latencies) {
  return new Promise((resolve, reject) => {
    const cannon = autocannon(options, (error, result) => {
      clearInterval(ticker);
      if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
      if (error) reject(new Error('autocannon failed', { cause: error }));
      else resolve(result);
    });
    cannon.on('response', (_client, _status, _bytes, responseMs) => {
      latencies.recordValue(Math.max(1, Math.round(responseMs * 1000)));
    });

    const startedMs = Date.now();
    const ticker = setInterval(() => {
      const elapsed = Math.round((Date.now() - startedMs) / 1000);
      const rate = figure(latencies.totalCount / elapsed);
      const line = `${elapsed} of ${options.duration} s, ${rate} requests/s, p99 ${figure(latencies.getValueAtPercentile(99))} µs`;
      process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
    }, 1000);
  });
}

function print(result, latencies, { cpuPerRequest, resident }) {
  const rows = [
    ['requests/s', figure(latencies.totalCount / result.duration)],
    ['MiB/s', figure(result.throughput.total / result.duration / 2 ** 20)],
    ['CPU µs/request', figure(cpuPerRequest)],
    ['RSS MiB', figure(resident / 2 ** 20)],
    ...PERCENTILES.map((rank) => [`p${rank} µs`, figure(latencies.getValueAtPercentile(rank))]),
    ['slowest µs', figure(latencies.maxValue)],
    ['not 2xx', String(result.non2xx)],
    ['errors', String(result.errors)],
    ['timeouts', String(result.timeouts)],
  ];
  console.log(
    `${machineLine()}\n\n${markdownTable(['fairlead', `${result.connections} connections`], rows)}`,
  );
}
