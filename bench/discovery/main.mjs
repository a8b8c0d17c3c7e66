// Many clusters that come at once from a control plane, by incremental CDS and EDS over one stream, for
// fairlead and for Envoy:
// - how long until all of them are warm, what the process has used of CPU and memory then;
// - how long a request to a static cluster takes meanwhile, and before;
// - how long the control thread answered nobody at a stretch: /ready is asked all the time;
// - how soon a request goes to the other host when one assignment changes, median and at most.
//   node scripts/bench.mjs discovery [--clusters 10000] [--rounds 3] [--changes 20] [--peers fairlead,envoy]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findEnvoy } from '../compare/install-envoy.mjs';
import { untilLive } from '../scale/until-live.mjs';
import { machineLine } from '../support/machine.mjs';
import { commandPath, resultsDirectory } from '../support/paths.mjs';
import {
  cpuMicros,
  firstLine,
  freePort,
  residentBytes,
  startProcess,
} from '../support/processes.mjs';
import { Progress } from '../support/progress.mjs';
import { median } from '../support/statistics.mjs';
import { figure, markdownTable } from '../support/table.mjs';
import { makeBootstrap } from './bootstrap.mjs';
import { nameOf } from './messages.mjs';

const WORKERS = 2;
const PACE_MS = 2;
/** Statistics of thousands of clusters cost the server some time, too. */
const POLL_MS = 50;
const BEFORE_MS = 1000;
const PATIENCE_MS = 120_000;
const planePath = join(dirname(fileURLToPath(import.meta.url)), 'plane.mjs');

const PEERS = {
  fairlead: () => [process.execPath, commandPath],
  envoy: () => findEnvoy() && [findEnvoy()],
};

export async function discovery(args) {
  const { values } = parseArgs({
    args,
    options: {
      clusters: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '3' },
      changes: { type: 'string', default: '20' },
      peers: { type: 'string', default: 'fairlead,envoy' },
    },
  });
  const peers = values.peers.split(',').flatMap((name) => {
    const command = PEERS[name]?.();
    return command ? [{ name, command }] : [];
  });
  const rounds = Number(values.rounds);
  const progress = new Progress(rounds * peers.length);
  const samples = new Map(peers.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; ++round) {
    for (const { name, command } of peers) {
      progress.step(`${name}: ${values.clusters} clusters`);
      samples
        .get(name)
        .push(await measure(command, Number(values.clusters), Number(values.changes)));
    }
  }
  progress.end();
  const text = `${machineLine()}\n\n${tableOf(samples)}\n`;
  console.log(text);
  mkdirSync(resultsDirectory, { recursive: true });
  writeFileSync(join(resultsDirectory, 'discovery.md'), text);
  writeFileSync(
    join(resultsDirectory, 'discovery.json'),
    `${JSON.stringify(Object.fromEntries(samples), null, 2)}\n`,
  );
  return 0;
}

async function measure([program, ...first], clusters, changes) {
  const origins = await Promise.all(['one', 'two'].map(startOrigin));
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-bench-'));
  const [one, two] = origins.map((origin) => origin.address().port);
  const plane = startProcess(process.execPath, [planePath, String(clusters), String(one)]);
  const ports = { listen: await freePort(), admin: await freePort(), origin: one };
  const config = join(directory, 'bootstrap.json');
  let proxy;
  try {
    const planePort = Number(await firstLine(plane));
    writeFileSync(config, makeBootstrap({ ...ports, plane: planePort }));
    const options = ['--concurrency', String(WORKERS), '--disable-hot-restart', '-l', 'error'];
    proxy = startProcess(program, [...first, '-c', config, ...options]);
    await untilLive(ports.admin, proxy);
    const warm = await warmAll(plane, proxy, ports, clusters);
    const swap = { plane, listen: ports.listen, name: nameOf(clusters >> 1), hosts: [two, one] };
    return { ...warm, changesMs: await changeHosts(swap, changes) };
  } finally {
    await proxy?.stop();
    await plane.stop();
    for (const origin of origins) {
      origin.closeAllConnections();
      origin.close();
    }
    rmSync(directory, { recursive: true });
  }
}

async function warmAll(plane, proxy, ports, clusters) {
  const traffic = probe(() => ask(ports.listen, '/', 'static'));
  const control = probe(() => ask(ports.admin, '/ready'));
  await sleep(BEFORE_MS);
  const calm = { traffic: traffic.take(), control: control.take() };
  const cpuBefore = cpuMicros([proxy.pid]);
  const beganMs = performance.now();
  plane.child.stdin.write('all\n');
  // The two of the bootstrap are active, too.
  const isWarm = (text) =>
    text.includes(`active_clusters: ${clusters + 2}\n`) && text.includes('warming_clusters: 0\n');
  const path = '/stats?filter=^cluster_manager.(active|warming)_clusters$';
  while (!isWarm(await ask(ports.admin, path))) {
    if (performance.now() - beganMs > PATIENCE_MS) throw new Error('they do not get warm');
    await sleep(POLL_MS);
  }
  const warmMs = performance.now() - beganMs;
  const during = { traffic: traffic.take(), control: control.take() };
  await Promise.all([traffic.stop(), control.stop()]);
  return {
    warmMs,
    cpuMs: (cpuMicros([proxy.pid]) - cpuBefore) / 1000,
    residentBytes: residentBytes([proxy.pid]),
    calmP99Ms: quantile(calm.traffic, 0.99),
    p99Ms: quantile(during.traffic, 0.99),
    stallMs: Math.max(...during.control),
  };
}

/** Milliseconds from what the control plane says to the first answer of the other host. */
async function changeHosts({ plane, listen, name, hosts }, changes) {
  const took = [];
  const origins = ['two', 'one'];
  for (let i = 0; i < changes; ++i) {
    const beganMs = performance.now();
    plane.child.stdin.write(`host ${name} ${hosts[i % 2]}\n`);
    while ((await ask(listen, '/', name)) !== origins[i % 2]) {
      if (performance.now() - beganMs > PATIENCE_MS) throw new Error('the host stays');
    }
    took.push(performance.now() - beganMs);
    await sleep(50);
  }
  return took;
}

function startOrigin(text) {
  return new Promise((resolve) => {
    const server = createServer((_, response) => response.end(text));
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

const agent = new Agent({ keepAlive: true, maxSockets: 8 });

function ask(port, path, cluster) {
  return new Promise((resolve, reject) => {
    const headers = cluster ? { 'x-cluster': cluster } : {};
    const sent = request({ port, path, headers, agent, host: '127.0.0.1' }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece) => (text += piece));
      response.on('end', () => resolve(text));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Asks again and again, one after the other: milliseconds that each took. */
function probe(once) {
  let times = [];
  let isOver = false;
  const run = (async () => {
    while (!isOver) {
      const beganMs = performance.now();
      await once();
      times.push(performance.now() - beganMs);
      await sleep(PACE_MS);
    }
  })();
  return {
    take() {
      const taken = times;
      times = [];
      return taken;
    },
    async stop() {
      isOver = true;
      await run;
    },
  };
}

function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function tableOf(samples) {
  const head = [
    ...['', 'all warm, ms', 'CPU, ms', 'RSS MiB', 'p99 before, ms', 'p99 meanwhile, ms'],
    ...['/ready at most, ms', 'another host, ms', 'at most, ms'],
  ];
  const rows = [...samples].map(([name, rounds]) => {
    const of = (key) => figure(median(rounds.map((round) => round[key])));
    const changes = rounds.flatMap((round) => round.changesMs);
    return [
      ...[name, of('warmMs'), of('cpuMs')],
      figure(median(rounds.map((round) => round.residentBytes)) / 2 ** 20),
      ...[of('calmP99Ms'), of('p99Ms'), of('stallMs')],
      ...[figure(median(changes)), figure(Math.max(...changes))],
    ];
  });
  return markdownTable(head, rows);
}
