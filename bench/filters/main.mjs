// npm run bench:filters: what each HTTP filter costs a request when it is on, beside Envoy. Every round
// measures a peer without the filter and with it, one after the other; the cost is the difference. That of
// user time is the steadier: what the kernel takes for the same sockets varies by more than most filters.
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findEnvoy } from '../compare/install-envoy.mjs';
import { buildTools } from '../support/build.mjs';
import { commandPath } from '../support/paths.mjs';
import { measureStarted, withDirectory } from '../compare/measure.mjs';
import { firstLine, freePort, startProcess, waitForPort } from '../support/processes.mjs';
import { Progress } from '../support/progress.mjs';
import { median } from '../support/statistics.mjs';
import { figure, markdownTable } from '../support/table.mjs';
import { bootstrapFor } from './bootstrap.mjs';
import { subjects } from './filters.mjs';
import { startService } from './service.mjs';

const USAGE = `usage: npm run bench:filters -- [options]
  --rounds N     alternating rounds of each filter (3)
  --seconds N    length of one measurement, whole seconds (2)
  --only A;B     these alone: ${subjects.map(({ name }) => name).join('; ')}`;

const CONNECTIONS = 64;
const FLAGS = ['--concurrency', '1', '--disable-hot-restart', '--log-level', 'error'];

function peers() {
  const envoy = findEnvoy();
  return [
    { name: 'fairlead', command: process.execPath, args: [commandPath, ...FLAGS] },
    ...(envoy === undefined ? [] : [{ name: 'envoy', command: envoy, args: FLAGS }]),
  ];
}

export async function filters(args) {
  const text = { type: 'string' };
  const { values } = parseArgs({
    args,
    options: { rounds: text, seconds: text, only: text, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const wanted = values.only?.split(';').map((name) => name.trim());
  const unknown = wanted?.find((name) => !subjects.some((subject) => subject.name === name));
  if (unknown !== undefined) {
    console.error(`no filter is called ${unknown}\n${USAGE}`);
    return 2;
  }
  const chosen = subjects.filter(({ name }) => wanted?.includes(name) ?? true);
  const last = availableParallelism() - 1;
  const loadCpus = last <= 1 ? '1' : `1-${last}`;
  const origin = startProcess(buildTools(['origin']).origin, ['0'], { cpus: loadCpus });
  const service = await startService();
  try {
    const ports = { origin: Number(await firstLine(origin)), service: service.port };
    const setup = { ports, seconds: Number(values.seconds ?? 2), loadCpus };
    console.log(await compareAll(chosen, Number(values.rounds ?? 3), setup));
    return 0;
  } finally {
    service.stop();
    await origin.stop();
  }
}

async function compareAll(chosen, rounds, setup) {
  const all = peers();
  const progress = new Progress(chosen.length * rounds * all.length);
  const rows = [];
  for (const subject of chosen) {
    const costs = new Map(all.map(({ name }) => [name, []]));
    let failed = 0;
    for (let round = 0; round < rounds; ++round) {
      for (let turn = 0; turn < all.length; ++turn) {
        const peer = all[(round + turn) % all.length];
        progress.step(`${subject.name}, round ${round + 1}: ${peer.name}`);
        const { bodyBytes, headers } = subject;
        const without = await measure(peer, { name: 'without', bodyBytes, headers }, setup);
        const sample = await measure(peer, subject, setup);
        failed += sample.failed + without.failed;
        costs.get(peer.name).push({
          all: sample.cpuMicrosPerRequest - without.cpuMicrosPerRequest,
          user: sample.userMicrosPerRequest - without.userMicrosPerRequest,
        });
      }
    }
    rows.push(rowOf(subject, costs, failed));
  }
  progress.end();
  const columns = all.flatMap(({ name }) => [`${name}, µs`, 'of it user']);
  return markdownTable(['filter', ...columns, 'ratio', 'failed'], rows);
}

function rowOf({ name }, costs, failed) {
  const figures = [...costs.values()].map((samples) => ({
    all: median(samples.map(({ all }) => all)),
    user: median(samples.map(({ user }) => user)),
  }));
  const [ours, theirs] = figures;
  const ratio = ours.user / (theirs?.user ?? NaN);
  const cells = figures.flatMap(({ all, user }) => [figure(all), figure(user)]);
  return [name, ...cells, figure(ratio), String(failed)];
}

function measure(peer, subject, { ports, seconds, loadCpus }) {
  return withDirectory(async (directory) => {
    const listen = await freePort();
    const config = join(directory, 'bootstrap.yaml');
    const all = { ...ports, listen, admin: await freePort() };
    writeFileSync(config, JSON.stringify(bootstrapFor(subject, all)));
    const proxy = startProcess(peer.command, [...peer.args, '-c', config], { cpus: '0' });
    try {
      await waitForPort(listen, proxy);
      const workload = {
        mode: 'http',
        bodyBytes: subject.bodyBytes ?? 100,
        connections: CONNECTIONS,
        headers: subject.headers,
      };
      return await measureStarted([proxy.pid], workload, { port: listen, seconds, cpus: loadCpus });
    } finally {
      await proxy.stop();
    }
  });
}
