// Ten hot restarts in a row at differing concurrency, under load of four kinds: what fails, what is
// counted, how long answers take meanwhile, and how long a takeover takes beside a cold start. The
// same for fairlead and for Envoy.
//   node scripts/bench.mjs restart [--restarts 10] [--pause-ms 500] [--peers fairlead,envoy]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findEnvoy } from '../compare/install-envoy.mjs';
import { machineLine } from '../support/machine.mjs';
import { commandPath, resultsDirectory } from '../support/paths.mjs';
import { freePort, startProcess } from '../support/processes.mjs';
import { median } from '../support/statistics.mjs';
import { figure, markdownTable } from '../support/table.mjs';
import { makeBootstrap } from './bootstrap.mjs';
import { partBytes, startLoad, startOrigin } from './load.mjs';

const CONCURRENCIES = [2, 1, 3, 4, 2, 1, 1, 3, 2, 4];
const COLD_STARTS = 5;
const WARM_UP_MS = 1500;
const POLL_MS = 2;
const START_TIMEOUT_MS = 20_000;
const SLOW = { parts: 20, pauseMs: 50 };
/** Long enough for two slow exchanges on a connection that learns of the drain with the second. */
const TIMES = ['--drain-time-s', '1', '--parent-shutdown-time-s', '4'];

/** How each is started; undefined where it is not there. */
const PEERS = {
  fairlead: () => [process.execPath, commandPath],
  envoy: () => findEnvoy() && [findEnvoy()],
};

export async function restart(args) {
  const { values } = parseArgs({
    args,
    options: {
      restarts: { type: 'string', default: '10' },
      'pause-ms': { type: 'string', default: '500' },
      peers: { type: 'string', default: 'fairlead,envoy' },
    },
  });
  const rows = [];
  for (const name of values.peers.split(',')) {
    const command = PEERS[name]?.();
    if (!command) {
      console.error(`${name} is left out: it is not there`);
      continue;
    }
    rows.push(await measure(name, command, Number(values.restarts), Number(values['pause-ms'])));
  }
  const text = `${machineLine()}\n\n${tableOf(rows)}\n`;
  console.log(text);
  mkdirSync(resultsDirectory, { recursive: true });
  writeFileSync(join(resultsDirectory, 'restart.md'), text);
  return rows.some(({ name, failed }) => name === 'fairlead' && failed > 0) ? 1 : 0;
}

async function measure(name, command, restarts, pauseMs) {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-bench-'));
  const origin = await startOrigin(SLOW);
  const [listenPort, adminPort] = [await freePort(), await freePort()];
  const config = join(directory, 'bootstrap.json');
  writeFileSync(config, JSON.stringify(makeBootstrap(listenPort, adminPort, origin.port)));
  const baseId = 1 + Math.floor(Math.random() * 1e6);
  const start = (epoch, concurrency, id = baseId) =>
    startEpoch(command, adminPort, epoch, [
      ...['-c', config, '--base-id', String(id), '--restart-epoch', String(epoch)],
      ...['--concurrency', String(concurrency), '-l', 'error', ...TIMES],
    ]);
  const [coldMs, idleMs] = [[], []];
  for (let i = 0; i < COLD_STARTS; ++i) {
    const first = await start(0, 2, baseId + 1 + i);
    const second = await start(1, 2, baseId + 1 + i);
    coldMs.push(first.tookMs);
    idleMs.push(second.tookMs);
    await Promise.all([first.proxy.stop(), second.proxy.stop()]);
  }

  let current = await start(0, 2);
  const all = [current.proxy];
  const kinds = [
    { clients: 8, keepAlive: true, path: '/' },
    { clients: 4, keepAlive: false, path: '/' },
    { clients: 2, keepAlive: false, path: '/upload', ...SLOW },
    { clients: 2, keepAlive: true, path: '/slow', expectedBytes: SLOW.parts * partBytes },
  ];
  const loads = kinds.map((kind) => startLoad(listenPort, kind));
  await sleep(WARM_UP_MS);
  const takeovers = [];
  for (let epoch = 1; epoch <= restarts; ++epoch) {
    const beganMs = performance.now();
    current = await start(epoch, CONCURRENCIES[(epoch - 1) % CONCURRENCIES.length]);
    all.push(current.proxy);
    takeovers.push({ beganMs, tookMs: current.tookMs });
    await sleep(pauseMs);
  }
  const sent = await Promise.all(loads.map((load) => load.stop()));
  // Parents have told their last numbers, as far as they do, and are gone.
  await sleep(6000);
  const counted = await readCounter(adminPort, 'http.web.downstream_rq_total');
  for (const proxy of all) await proxy.stop();
  origin.stop();
  rmSync(directory, { recursive: true });
  return summary(name, sent, counted, takeovers, { coldMs, idleMs });
}

/** Resolves when this very epoch says that it is LIVE. */
async function startEpoch(command, adminPort, epoch, args) {
  const [program, ...first] = command;
  const startedMs = performance.now();
  const proxy = startProcess(program, [...first, ...args]);
  while (performance.now() - startedMs < START_TIMEOUT_MS && proxy.child.exitCode === null) {
    const info = await serverInfo(adminPort);
    if (info?.state === 'LIVE' && (info.command_line_options.restart_epoch ?? 0) === epoch) {
      return { proxy, tookMs: performance.now() - startedMs };
    }
    await sleep(POLL_MS);
  }
  throw new Error(`epoch ${epoch} does not become LIVE: ${proxy.errors()}`);
}

async function serverInfo(adminPort) {
  try {
    return await (await fetch(`http://127.0.0.1:${adminPort}/server_info`)).json();
  } catch {
    return undefined;
  }
}

async function readCounter(adminPort, name) {
  const answer = await fetch(`http://127.0.0.1:${adminPort}/stats?filter=^${name}$`);
  return Number(/: (\d+)/.exec(await answer.text())?.[1] ?? 0);
}

function summary(name, sent, counted, takeovers, { coldMs, idleMs }) {
  const requests = sent.reduce((sum, { samples }) => sum + samples.length, 0);
  const failures = sent.flatMap(({ failures: some }) => [...some]);
  // The quick requests only: the others take as long as they are meant to.
  const quick = [...sent[0].samples, ...sent[1].samples];
  const firstMs = takeovers[0].beganMs;
  const isDuring = ({ atMs }) =>
    takeovers.some(({ beganMs, tookMs }) => atMs >= beganMs && atMs <= beganMs + tookMs + 200);
  return {
    name,
    requests,
    failed: failures.reduce((sum, [, count]) => sum + count, 0),
    reasons: failures.map(([what, count]) => `${what} ${count}`).join(', '),
    missing: requests - counted,
    p99BeforeMs: p99(quick.filter(({ atMs }) => atMs < firstMs)),
    p99DuringMs: p99(quick.filter(isDuring)),
    coldMs: median(coldMs),
    idleMs: median(idleMs),
    takeoverMs: median(takeovers.map(({ tookMs }) => tookMs)),
  };
}

function p99(samples) {
  const sorted = samples.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}

function tableOf(rows) {
  const head = [
    ...['', 'requests', 'failed', 'not counted', 'p99 before', 'p99 during'],
    ...['cold start', 'takeover', 'under load', 'why'],
  ];
  return markdownTable(
    head,
    rows.map((row) => [
      row.name,
      row.requests.toLocaleString('en-US'),
      String(row.failed),
      String(row.missing),
      ...[row.p99BeforeMs, row.p99DuringMs, row.coldMs, row.idleMs, row.takeoverMs].map(
        (ms) => `${figure(ms)} ms`,
      ),
      row.reasons || '-',
    ]),
  );
}
