// About size, not requests: how long fairlead and Envoy take from their start until /ready says
// LIVE, and what they occupy then, with few and with many clusters and virtual hosts.
//   node scripts/bench.mjs scale [--counts 10,10000] [--rounds 3]
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findEnvoy } from '../compare/install-envoy.mjs';
import { describeMachine, machineLine } from '../support/machine.mjs';
import { commandPath, resultsDirectory } from '../support/paths.mjs';
import { freePort, residentBytes, startProcess } from '../support/processes.mjs';
import { Progress } from '../support/progress.mjs';
import { median } from '../support/statistics.mjs';
import { figure, markdownTable } from '../support/table.mjs';
import { makeBootstrap } from './make-bootstrap.mjs';

const OPTIONS = ['--concurrency', '1', '--disable-hot-restart', '--log-level', 'error'];
const LIVE_TIMEOUT_MS = 120_000;
const POLL_MS = 2;
const SETTLE_MS = 300;

export async function scale(args) {
  const { values } = parseArgs({
    args,
    options: {
      counts: { type: 'string', default: '10,10000' },
      rounds: { type: 'string', default: '3' },
    },
  });
  const counts = values.counts.split(',').map(Number);
  const rounds = Number(values.rounds);
  const contestants = findContestants();
  if (contestants.length === 0) {
    console.error(
      'neither fairlead (npm run build) nor Envoy (node bench/compare/install-envoy.mjs) is there',
    );
    return 1;
  }

  const progress = new Progress(counts.length * rounds * contestants.length);
  const results = [];
  for (const count of counts)
    results.push({ count, rows: await compareAt(count, rounds, contestants, progress) });
  progress.end();

  const text = results.map(resultText).join('\n\n');
  console.log(`${machineLine()}\n\n${text}`);
  mkdirSync(resultsDirectory, { recursive: true });
  const record = { machine: describeMachine(), rounds, results };
  writeFileSync(join(resultsDirectory, 'scale.json'), `${JSON.stringify(record, null, 2)}\n`);
  writeFileSync(join(resultsDirectory, 'scale.md'), `${machineLine()}\n\n${text}\n`);
  return 0;
}

function findContestants() {
  const contestants = [];
  if (existsSync(commandPath)) {
    contestants.push({ name: 'fairlead', command: process.execPath, args: [commandPath] });
  }
  const envoy = findEnvoy();
  if (envoy !== undefined) contestants.push({ name: 'envoy', command: envoy, args: [] });
  return contestants;
}

async function compareAt(count, rounds, contestants, progress) {
  const samples = new Map(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; ++round) {
    for (const contestant of contestants) {
      progress.step(`${count} clusters, round ${round + 1}: ${contestant.name}`);
      samples.get(contestant.name).push(await measureStart(contestant, count));
    }
  }
  return [...samples].map(([name, all]) => ({
    name,
    liveMs: median(all.map((sample) => sample.liveMs)),
    residentBytes: median(all.map((sample) => sample.residentBytes)),
    samples: all,
  }));
}

async function measureStart({ command, args }, count) {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-scale-'));
  const adminPort = await freePort();
  const config = join(directory, 'bootstrap.json');
  writeFileSync(config, makeBootstrap(count, { listenPort: await freePort(), adminPort }));

  const startedMs = performance.now();
  const proxy = startProcess(command, [...args, '-c', config, ...OPTIONS]);
  try {
    await waitUntilLive(adminPort, proxy);
    const liveMs = performance.now() - startedMs;
    await sleep(SETTLE_MS);
    return { liveMs, residentBytes: residentBytes([proxy.pid]) };
  } finally {
    await proxy.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function waitUntilLive(adminPort, proxy) {
  const end = Date.now() + LIVE_TIMEOUT_MS;
  while (Date.now() < end) {
    if (proxy.child.exitCode !== null)
      throw new Error(`did not start: ${proxy.errors().trim().slice(-500)}`);
    if ((await readyStatus(adminPort)) === 200) return;
    await sleep(POLL_MS);
  }
  throw new Error(`not LIVE after ${LIVE_TIMEOUT_MS / 1000} s`);
}

/** 0 while nobody answers. */
function readyStatus(port) {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/ready', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', () => resolve(0));
  });
}

function resultText({ count, rows }) {
  const reference = rows.find((row) => row.name === 'envoy');
  const ratio = (value, of) => (of === undefined ? '-' : (value / of).toFixed(2));
  const cells = rows.map((row) => [
    row.name,
    figure(row.liveMs),
    ratio(row.liveMs, reference?.liveMs),
    figure(row.residentBytes / 2 ** 20),
    ratio(row.residentBytes, reference?.residentBytes),
  ]);
  const head = ['', 'start to LIVE, ms', '÷ envoy', 'RSS MiB', '÷ envoy'];
  return `## ${count.toLocaleString('en-US')} clusters and virtual hosts\n\n${markdownTable(head, cells)}`;
}
