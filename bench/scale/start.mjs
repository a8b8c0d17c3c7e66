// About size, not requests: how long fairlead and Envoy take from their start until /ready says
// LIVE, and what they occupy then: with the example bootstrap, and with many clusters and virtual
// hosts. Rounds alternate, another one begins each, and ratios are taken within a round.
//   node scripts/bench.mjs scale [--cases demo,10000] [--rounds 5]
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findEnvoy } from '../compare/install-envoy.mjs';
import { describeMachine, machineLine } from '../support/machine.mjs';
import { commandPath, resultsDirectory, root } from '../support/paths.mjs';
import { firstByte, freePort, residentBytes, startProcess } from '../support/processes.mjs';
import { Progress } from '../support/progress.mjs';
import { median } from '../support/statistics.mjs';
import { figure, markdownTable } from '../support/table.mjs';
import { makeBootstrap } from './make-bootstrap.mjs';
import { untilLive } from './until-live.mjs';

const OPTIONS = ['--concurrency', '1', '--disable-hot-restart', '--log-level', 'error'];
const EXAMPLE = join(root, 'examples', 'demo.yaml');
const SETTLE_MS = 300;
/** The contestant that stands for what no program on Node gets below: its first line. */
const BARE_NODE = 'node alone';

/**
 * Node parses the certificates that this variable names before it runs anything, which takes it
 * longer than its whole start otherwise.
 */
const environment = { ...process.env };
delete environment.NODE_EXTRA_CA_CERTS;

export async function scale(args) {
  const { values } = parseArgs({
    args,
    options: {
      cases: { type: 'string', default: 'demo,10000' },
      rounds: { type: 'string', default: '5' },
    },
  });
  const cases = values.cases.split(',');
  const rounds = Number(values.rounds);
  const contestants = findContestants();
  if (contestants.length < 2) {
    console.error(
      'neither fairlead (npm run build) nor Envoy (node bench/compare/install-envoy.mjs) is there',
    );
    return 1;
  }

  const progress = new Progress(cases.length * rounds * contestants.length);
  const results = [];
  for (const name of cases)
    results.push({ name, rows: await compareWith(name, rounds, contestants, progress) });
  progress.end();

  const text = [machineLine(), ...results.map(resultText)].join('\n\n');
  console.log(text);
  mkdirSync(resultsDirectory, { recursive: true });
  const record = { machine: describeMachine(), rounds, results };
  writeFileSync(join(resultsDirectory, 'scale.json'), `${JSON.stringify(record, null, 2)}\n`);
  writeFileSync(join(resultsDirectory, 'scale.md'), `${text}\n`);
  return 0;
}

function findContestants() {
  const contestants = [
    { name: BARE_NODE, command: process.execPath, args: [], measure: measureBareNode },
  ];
  if (existsSync(commandPath)) {
    const args = [commandPath];
    contestants.push({ name: 'fairlead', command: process.execPath, args, measure: measureStart });
  }
  const envoy = findEnvoy();
  if (envoy !== undefined)
    contestants.push({ name: 'envoy', command: envoy, args: [], measure: measureStart });
  return contestants;
}

async function compareWith(name, rounds, contestants, progress) {
  const samples = new Map(contestants.map((contestant) => [contestant.name, []]));
  // The first round fills the kernel's caches and is not counted.
  for (let round = 0; round <= rounds; ++round) {
    for (let turn = 0; turn < contestants.length; ++turn) {
      const contestant = contestants[(round + turn) % contestants.length];
      if (round > 0) progress.step(`${title(name)}, round ${round}: ${contestant.name}`);
      const sample = await contestant.measure(contestant, name);
      if (round > 0) samples.get(contestant.name).push(sample);
    }
  }
  const reference = samples.get('envoy');
  return [...samples].map(([contestant, all]) => ({
    name: contestant,
    liveMs: median(all.map((sample) => sample.liveMs)),
    residentBytes: median(all.map((sample) => sample.residentBytes)),
    liveRatio: ratioTo(reference, all, 'liveMs'),
    residentRatio: ratioTo(reference, all, 'residentBytes'),
    samples: all,
  }));
}

function ratioTo(reference, samples, key) {
  return reference && median(samples.map((sample, round) => sample[key] / reference[round][key]));
}

async function measureStart({ command, args }, name) {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-scale-'));
  const adminPort = await freePort();
  const config = writeBootstrap(name, directory, { listenPort: await freePort(), adminPort });

  const startedMs = performance.now();
  const proxy = startProcess(command, [...args, '-c', config, ...OPTIONS], { env: environment });
  try {
    await untilLive(adminPort, proxy);
    const liveMs = performance.now() - startedMs;
    await sleep(SETTLE_MS);
    return { liveMs, residentBytes: residentBytes([proxy.pid]) };
  } finally {
    await proxy.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measureBareNode({ command }) {
  const startedMs = performance.now();
  const script = new URL('bare-node.cjs', import.meta.url).pathname;
  const node = startProcess(command, [script], { env: environment });
  try {
    await firstByte(node);
    return { liveMs: performance.now() - startedMs, residentBytes: residentBytes([node.pid]) };
  } finally {
    await node.stop();
  }
}

/** @returns {string} its path */
function writeBootstrap(name, directory, ports) {
  if (name !== 'demo') {
    const path = join(directory, 'bootstrap.json');
    writeFileSync(path, makeBootstrap(Number(name), ports));
    return path;
  }
  const path = join(directory, 'bootstrap.yaml');
  const text = readFileSync(EXAMPLE, 'utf8')
    .replace('port_value: 9901', `port_value: ${ports.adminPort}`)
    .replace('port_value: 10000', `port_value: ${ports.listenPort}`)
    // Nobody asks its origin.
    .replaceAll('port_value: 10080', 'port_value: 0');
  writeFileSync(path, text);
  return path;
}

function title(name) {
  if (name === 'demo') return 'examples/demo.yaml';
  return `${Number(name).toLocaleString('en-US')} clusters and virtual hosts`;
}

function resultText({ name, rows }) {
  const cells = rows.map((row) => [
    row.name,
    figure(row.liveMs),
    row.liveRatio?.toFixed(2) ?? '-',
    figure(row.residentBytes / 2 ** 20),
    row.residentRatio?.toFixed(2) ?? '-',
  ]);
  const head = ['', 'start to LIVE, ms', '÷ envoy', 'RSS MiB', '÷ envoy'];
  return `## ${title(name)}\n\n${markdownTable(head, cells)}`;
}
