// Updates among many clusters, for fairlead and for Envoy:
// - under full load the one host of a cluster is replaced, again and again: how soon no worker uses
//   the old one, and how long requests take in the halves of time with an update and without;
// - without load: what an update costs the control thread and each worker;
// - 1,000 random updates and removals of clusters in 100 rounds: what the memory grows by.
//   node scripts/bench.mjs updates [--clusters 10000] [--rounds 40] [--peers fairlead,envoy]
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findEnvoy } from '../compare/install-envoy.mjs';
import { untilLive } from '../scale/until-live.mjs';
import { buildTools } from '../support/build.mjs';
import { machineLine } from '../support/machine.mjs';
import { commandPath, resultsDirectory } from '../support/paths.mjs';
import { firstLine, freePort, residentBytes, startProcess } from '../support/processes.mjs';
import { Progress } from '../support/progress.mjs';
import { median } from '../support/statistics.mjs';
import { figure, markdownTable } from '../support/table.mjs';
import { MOVING, makeDynamicBootstrap, putClusters, putHosts } from './bootstrap.mjs';

const WORKERS = 2;
const CONNECTIONS = 32;
const PERIOD_MS = 200;
const QUIET_UPDATES = 20;
const QUIET_PAUSE_MS = 100;
const MEMORY_ROUNDS = 100;
const UPDATES_IN_ROUND = 10;
const SEED = 7;

/** How each is started; undefined where it is not there. */
const PEERS = {
  fairlead: () => [process.execPath, commandPath],
  envoy: () => findEnvoy() && [findEnvoy()],
};

export async function updates(args) {
  const { values } = parseArgs({
    args,
    options: {
      clusters: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '40' },
      peers: { type: 'string', default: 'fairlead,envoy' },
    },
  });
  const probe = buildTools(['updateProbe']).updateProbe;
  const peers = values.peers.split(',');
  const progress = new Progress(2 * peers.length);
  const rows = [];
  for (const name of peers) {
    const command = PEERS[name]?.();
    if (!command) {
      progress.note(`${name} is left out: it is not there`);
      continue;
    }
    const sizes = { clusters: Number(values.clusters), rounds: values.rounds };
    rows.push(await measure(name, command, probe, sizes, progress));
  }
  progress.end();
  const text = `${machineLine()}\n\n${tableOf(rows)}\n`;
  console.log(text);
  mkdirSync(resultsDirectory, { recursive: true });
  writeFileSync(join(resultsDirectory, 'updates.md'), text);
  writeFileSync(join(resultsDirectory, 'updates.json'), `${JSON.stringify(rows, null, 2)}\n`);
  return 0;
}

async function measure(name, command, probePath, { clusters, rounds }, progress) {
  const probe = startProcess(probePath, [String(CONNECTIONS), rounds, String(PERIOD_MS)]);
  try {
    const [port] = (await firstLine(probe)).split(' ').map(Number);
    progress.step(`${name}: under load and without, ${clusters} clusters`);
    const many = await withProxy(command, clusters, port, async ({ proxy, listenPort, files }) => {
      const what = `${listenPort} ${MOVING} ${MOVING} ${files.eds}`;
      const loaded = await underLoad(probe, what);
      return { loaded, quiet: await withoutLoad(proxy.pid, files.eds, port) };
    });
    progress.step(`${name}: ${MEMORY_ROUNDS * UPDATES_IN_ROUND} updates`);
    // Few: /stats is asked after each update.
    const memory = await withProxy(command, 10, port, ({ proxy, adminPort, files }) =>
      overRounds(proxy.pid, adminPort, files.cds, port),
    );
    return { name, ...many, memory };
  } finally {
    await probe.stop();
  }
}

/** @param {number} port of the origin that its files name at first */
async function withProxy([program, ...first], clusters, port, use) {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-bench-'));
  const files = { eds: join(directory, 'eds.json'), cds: join(directory, 'cds.json') };
  const [listenPort, adminPort] = [await freePort(), await freePort()];
  const config = join(directory, 'bootstrap.json');
  writeFileSync(config, makeDynamicBootstrap(clusters, { listenPort, adminPort }, files));
  putHosts(files.eds, 'first', port);
  putClusters(files.cds, 'first', [], port);
  const options = ['--concurrency', String(WORKERS), '--disable-hot-restart', '-l', 'error'];
  const proxy = startProcess(program, [...first, '-c', config, ...options]);
  try {
    await untilLive(adminPort, proxy);
    return await use({ proxy, listenPort, adminPort, files });
  } finally {
    await proxy.stop();
    rmSync(directory, { recursive: true });
  }
}

/** @returns {Promise<readonly object[]>} a record of each round; see load/update_probe.cc */
async function underLoad(probe, what) {
  let output = '';
  probe.child.stdout.on('data', (text) => (output += text));
  probe.child.stdin.end(`${what}\n`);
  const code = await new Promise((resolve) => probe.child.on('close', resolve));
  if (code !== 0) throw new Error(`the probe ended with ${code}: ${probe.errors().trim()}`);
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Microseconds of CPU that one update takes, by thread. */
async function withoutLoad(pid, file, port) {
  // The end of the load.
  await sleep(1000);
  const before = cpuNanos(pid);
  await sleep(QUIET_UPDATES * QUIET_PAUSE_MS);
  const idle = cpuNanos(pid);
  for (let i = 0; i < QUIET_UPDATES; ++i) {
    putHosts(file, `quiet-${i}`, port + (i % 2));
    await sleep(QUIET_PAUSE_MS);
  }
  const after = cpuNanos(pid);
  const each = (thread) =>
    (after.get(thread) - idle.get(thread) - (idle.get(thread) - before.get(thread))) /
    1000 /
    QUIET_UPDATES;
  const workers = [...after.keys()].filter((thread) => thread.startsWith('wrk:'));
  return { workerUs: Math.max(...workers.map(each)), mainUs: each('main') };
}

/** By thread, of all that are there. */
function cpuNanos(pid) {
  const nanos = new Map();
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${task}`;
    const name = Number(task) === pid ? 'main' : readFileSync(`${folder}/comm`, 'utf8').trim();
    const used = Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]);
    nanos.set(name, (nanos.get(name) ?? 0) + used);
  }
  return nanos;
}

/** Resident bytes after each tenth round. Each update has another half of 200 clusters. */
async function overRounds(pid, adminPort, file, port) {
  const random = randomFrom(SEED);
  const sizes = [];
  let updates = await updatesOf(adminPort);
  for (let round = 1; round <= MEMORY_ROUNDS; ++round) {
    for (let i = 0; i < UPDATES_IN_ROUND; ++i) {
      const names = Array.from({ length: 200 }, (_, index) => `passing_${index}`);
      const some = names.filter(() => random() < 0.5);
      const clusters = some.map((name) => ({ name, seconds: 1 + Math.floor(random() * 3) }));
      putClusters(file, `${round}-${i}`, clusters, port);
      updates = await untilUpdated(adminPort, updates);
    }
    if (round % 10 === 0) sizes.push(residentBytes([pid]));
  }
  return sizes;
}

async function untilUpdated(adminPort, before) {
  for (;;) {
    const now = await updatesOf(adminPort);
    if (now > before) return now;
    await sleep(1);
  }
}

async function updatesOf(adminPort) {
  const filter = 'cluster_manager.cds.update_success$';
  const answer = await fetch(`http://127.0.0.1:${adminPort}/stats?filter=${filter}`);
  return Number(/: (\d+)/.exec(await answer.text())?.[1] ?? 0);
}

/** Numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function tableOf(rows) {
  const head = [
    ...['', 'old host left, ms', 'at most', 'p50 with', 'p50 without', 'p99 with', 'p99 without'],
    ...[
      'max with',
      'max without',
      'CPU of a worker',
      'of the main thread',
      'RSS MiB',
      '100 rounds',
    ],
  ];
  return markdownTable(
    head,
    rows.map(({ name, loaded, quiet, memory }) => {
      const left = loaded.map((round) => round.last_old_us / 1000);
      const of = (half, key) => `${figure(median(loaded.map((round) => round[half][key])))} µs`;
      return [
        name,
        figure(median(left)),
        figure(Math.max(...left)),
        ...['p50_us', 'p99_us', 'max_us'].flatMap((key) => [of('during', key), of('apart', key)]),
        `${figure(quiet.workerUs)} µs`,
        `${figure(quiet.mainUs)} µs`,
        figure(memory.at(-1) / 2 ** 20),
        `${figure((memory.at(-1) - memory[0]) / 2 ** 20)} MiB`,
      ];
    }),
  );
}
