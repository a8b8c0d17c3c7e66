// npm run bench:compare: fairlead and its peers on the same work, in the same run.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { buildTools } from '../support/build.mjs';
import { Progress } from '../support/progress.mjs';
import { firstLine, startProcess } from '../support/processes.mjs';
import { measureIdle, mostIdle } from './idle.mjs';
import { missingLoad } from './load.mjs';
import { measure } from './measure.mjs';
import { peers } from './peers/index.mjs';
import { reportText, writeReport } from './report.mjs';
import { summarize } from './summary.mjs';
import { missingTlsOrigin, startTlsOrigin } from './tls-origin.mjs';
import {
  grpcWorkloads,
  handshakeWorkloads,
  http2Workloads,
  tlsWorkloads,
  workloads,
} from './workloads.mjs';

const all = [
  ...workloads,
  ...tlsWorkloads,
  ...handshakeWorkloads,
  ...http2Workloads,
  ...grpcWorkloads,
];

const USAGE = `usage: npm run bench:compare -- [options]
  --rounds N          alternating rounds of each workload (5)
  --seconds N         length of one measurement, whole seconds (3)
  --only A,B          these peers alone: ${peers.map((peer) => peer.name).join(', ')}
  --workloads A,B     these alone: ${all.map((workload) => workload.name).join(', ')}; or none
  --tls               HTTP/1 over TLS with clients, and with the origin
  --handshake         a new TLS connection for each request
  --h2                HTTP/2 with clients, over TLS, and with the origin, in the clear
  --grpc              unary calls of gRPC, in the clear
  --idle N            idle connections, over TLS with --tls; 0 for no such measurement (10000, or what
                      ulimit -n allows)
  --base PEER         whom the ratios compare (fairlead)
  --proxy-cpus LIST   CPUs of the proxies, for taskset (0)
  --load-cpus LIST    CPUs of the load and the origin (all others)`;

export async function compare(args) {
  const options = readOptions(args);
  if (options === USAGE) {
    console.log(USAGE);
    return 0;
  }
  if (typeof options === 'string') {
    console.error(options);
    return 2;
  }
  const { origin: originProgram } = buildTools(['origin']);
  const origin = startProcess(originProgram, ['0'], { cpus: options.loadCpus });
  let tlsOrigin;
  try {
    const port = Number(await firstLine(origin));
    if (options.workloads.some(isToTls) && missingTlsOrigin() === undefined) {
      tlsOrigin = await startTlsOrigin(port, options.loadCpus);
    }
    const setup = { ...options, origin: { port }, tlsOrigin };
    const result = await runAll(setup);
    console.log(reportText(result));
    console.log(`Written to ${writeReport(result)}`);
    return 0;
  } finally {
    await tlsOrigin?.stop();
    await origin.stop();
  }
}

async function runAll(setup) {
  const absent = [];
  const present = (mode) => setup.peers.filter((peer) => isPresent(peer, mode, absent));
  const plan = setup.workloads.map((workload) => ({ workload, peers: present(workload.mode) }));
  const idlePeers =
    setup.idle > 0 ? present(setup.idleMode).filter((peer) => peer.isProxy !== false) : [];

  const measurements = plan.reduce((sum, entry) => sum + entry.peers.length * setup.rounds, 0);
  const progress = new Progress(measurements + idlePeers.length);
  const measured = [];
  for (const entry of plan) {
    if (entry.peers.length > 0) measured.push(await compareOn(entry, setup, progress));
  }
  const idle = [];
  for (const peer of idlePeers) {
    progress.step(`${setup.idle} idle connections: ${peer.name}`);
    idle.push({
      peer: peer.name,
      ...(await measureIdle(peer, {
        ...setup,
        mode: setup.idleMode,
        connections: setup.idle,
      })),
    });
  }
  progress.end();

  const took = setup.peers.filter(
    (peer) => plan.some((entry) => entry.peers.includes(peer)) || idlePeers.includes(peer),
  );
  return {
    date: new Date().toISOString().slice(0, 10),
    base: setup.base,
    rounds: setup.rounds,
    seconds: setup.seconds,
    versions: Object.fromEntries(took.map((peer) => [peer.name, peer.version()])),
    workloads: measured,
    idle,
    idleMode: setup.idleMode,
    absent,
  };
}

const isToTls = ({ mode }) => mode === 'tls-origin';

function isPresent(peer, mode, absent) {
  const why =
    peer.missing(mode) ?? missingLoad(mode) ?? (isToTls({ mode }) ? missingTlsOrigin() : undefined);
  const isKnown = absent.some((entry) => entry.peer === peer.name && entry.mode === mode);
  if (why !== undefined && !isKnown) absent.push({ peer: peer.name, mode, why });
  return why === undefined;
}

async function compareOn({ workload, peers: competing }, setup, progress) {
  const samples = new Map(competing.map((peer) => [peer.name, []]));
  for (let round = 0; round < setup.rounds; ++round) {
    // Another one begins each round: nobody always runs after the same neighbour.
    for (let turn = 0; turn < competing.length; ++turn) {
      const peer = competing[(round + turn) % competing.length];
      progress.step(`${workload.name}, round ${round + 1}: ${peer.name}`);
      const origin = isToTls(workload) ? setup.tlsOrigin : setup.origin;
      samples.get(peer.name).push(await measure(peer, workload, { ...setup, origin }));
    }
  }
  return { workload, rows: summarize(samples, setup.base), samples: Object.fromEntries(samples) };
}

/** A string is what to say instead of running. */
function readOptions(args) {
  const text = { type: 'string' };
  const { values } = parseArgs({
    args,
    options: {
      rounds: text,
      seconds: text,
      only: text,
      workloads: text,
      idle: text,
      base: text,
      'proxy-cpus': text,
      'load-cpus': text,
      tls: { type: 'boolean' },
      handshake: { type: 'boolean' },
      h2: { type: 'boolean' },
      grpc: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return USAGE;

  const chosenPeers = choose(peers, values.only);
  const asked = [
    ...(values.tls ? tlsWorkloads : []),
    ...(values.handshake ? handshakeWorkloads : []),
    ...(values.h2 ? http2Workloads : []),
    ...(values.grpc ? grpcWorkloads : []),
  ];
  const usual = asked.length > 0 ? asked : [...workloads];
  const chosenWorkloads =
    values.workloads === 'none' ? [] : values.workloads ? choose(all, values.workloads) : usual;
  if (typeof chosenPeers === 'string') return `no peer is called ${chosenPeers}\n${USAGE}`;
  if (typeof chosenWorkloads === 'string')
    return `no workload is called ${chosenWorkloads}\n${USAGE}`;
  const lastCpu = availableParallelism() - 1;
  if (lastCpu < 1) return 'a comparison needs two CPUs: one for the proxy, one for the load';
  return {
    rounds: wholeNumber(values.rounds, 5),
    seconds: wholeNumber(values.seconds, 3),
    peers: chosenPeers,
    workloads: chosenWorkloads,
    idle: Math.min(wholeNumber(values.idle, 10_000), mostIdle()),
    idleMode: values.tls ? 'https' : 'http',
    base: values.base ?? 'fairlead',
    proxyCpus: values['proxy-cpus'] ?? '0',
    loadCpus: values['load-cpus'] ?? (lastCpu === 1 ? '1' : `1-${lastCpu}`),
  };
}

/** Those of `all` that are named, all of them without names; a string is a name that nobody has. */
function choose(all, names) {
  if (names === undefined) return [...all];
  const wanted = names.split(',');
  const unknown = wanted.find((name) => !all.some((item) => item.name === name));
  return unknown ?? all.filter((item) => wanted.includes(item.name));
}

function wholeNumber(text, otherwise) {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isInteger(value) || value < 0) throw new Error(`not a whole number: ${text}`);
  return value;
}
