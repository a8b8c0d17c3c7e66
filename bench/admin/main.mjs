// The admin pages with many clusters, beside Envoy: how long each takes, what it does to traffic, and
// whether many scrapers at once get all of it.
//   node scripts/bench.mjs admin [--clusters 10000] [--rounds 5] [--seconds 60] [--scrapers 20]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildTools } from '../support/build.mjs';
import { describeMachine, machineLine } from '../support/machine.mjs';
import { resultsDirectory } from '../support/paths.mjs';
import { runProcess, startProcess } from '../support/processes.mjs';
import { median } from '../support/statistics.mjs';
import { figure, markdownTable } from '../support/table.mjs';
import { contestantNames, fetchPage, startContestant } from './contestant.mjs';
import { scrapeTogether } from './scrapers.mjs';

/** The pages, and how much of Envoy's time they may take. */
const PAGES = [
  { path: '/stats', budget: 0.35 },
  { path: '/stats?format=prometheus', budget: 0.25 },
  { path: '/clusters', budget: 1 },
  { path: '/config_dump', budget: 1 },
];
/** Of some, other forms are timed too. */
const TIMED_PAGES = [
  ...PAGES.map((page) => ({ ...page, title: page.path })),
  {
    path: '/stats?format=prometheus',
    accept: 'application/vnd.google.protobuf',
    title: '/stats?format=prometheus as protobuf',
    budget: 0.25,
  },
];
const READER = fileURLToPath(new URL('reader.mjs', import.meta.url));
const LOAD_CONNECTIONS = 32;
const WINDOW_SECONDS = 3;

export async function admin(args) {
  const { values } = parseArgs({
    args,
    options: {
      clusters: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '60' },
      scrapers: { type: 'string', default: '20' },
      'skip-load': { type: 'boolean', default: false },
    },
  });
  const names = contestantNames();
  if (!names.includes('fairlead')) {
    console.error('fairlead is not built: npm run build');
    return 1;
  }
  const tools = buildTools(['origin', 'tcpLoad']);
  const options = { clusters: Number(values.clusters), originProgram: tools.origin, cpus: '0' };
  const record = { machine: describeMachine(), options: values };
  const rounds = Number(values.rounds);
  record.pages = await withContestants(names, options, (all) => timePages(all, rounds));
  const sections = [pagesText(record.pages)];
  if (!values['skip-load']) {
    record.traffic = {};
    // Alone: with many clusters even one that has nothing to do takes its processor now and then.
    for (const name of names) {
      await withContestants([name], options, async ([contestant]) => {
        record.traffic[name] = await measureTraffic(contestant, tools.tcpLoad, rounds);
        if (name !== 'fairlead') return;
        record.scrapers = await scrapeTogether(contestant, tools.tcpLoad, {
          scrapers: Number(values.scrapers),
          seconds: Number(values.seconds),
          paths: PAGES.map(({ path }) => path),
        });
      });
    }
    sections.push(trafficText(record.traffic), scrapersText(record.scrapers));
  }
  const text = [machineLine(), ...sections].join('\n\n');
  console.log(text);
  mkdirSync(resultsDirectory, { recursive: true });
  writeFileSync(join(resultsDirectory, 'admin.json'), `${JSON.stringify(record, null, 2)}\n`);
  writeFileSync(join(resultsDirectory, 'admin.md'), `${text}\n`);
  return 0;
}

/** Runs them all while `use` does. */
async function withContestants(names, options, use) {
  const contestants = [];
  try {
    for (const name of names) contestants.push(await startContestant(name, options));
    return await use(contestants);
  } finally {
    for (const contestant of contestants) await contestant.stop();
  }
}

// ---- pages ----

async function timePages(contestants, rounds) {
  const samples = TIMED_PAGES.map(() => new Map(contestants.map(({ name }) => [name, []])));
  for (let round = 0; round <= rounds; ++round) {
    for (const [index, { path, accept }] of TIMED_PAGES.entries()) {
      for (const { name, adminPort } of contestants) {
        const { ms, bytes, status } = await fetchPage(adminPort, path, { accept });
        if (status !== 200) throw new Error(`${name}: ${path} answers ${status}`);
        // The first round warms up.
        if (round > 0) samples[index].get(name).push({ ms, bytes });
      }
    }
  }
  const peaks = Object.fromEntries(contestants.map(({ name, pid }) => [name, memoryOf(pid)]));
  const rows = TIMED_PAGES.map(({ title, budget }, index) => ({
    path: title,
    budget,
    byName: Object.fromEntries(
      [...samples[index]].map(([name, all]) => [
        name,
        { ms: median(all.map(({ ms }) => ms)), bytes: all.at(-1).bytes, samples: all },
      ]),
    ),
  }));
  return { rows, peaks };
}

/** Resident now, and at most so far, in MiB. */
function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (name) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
  return { residentMiB: mebibytes('VmRSS'), peakMiB: mebibytes('VmHWM') };
}

function pagesText({ rows, peaks }) {
  const cells = rows.map(({ path, budget, byName: { fairlead, envoy } }) => [
    path,
    `${figure(fairlead.ms)} ms`,
    envoy ? `${figure(envoy.ms)} ms` : '-',
    envoy ? (fairlead.ms / envoy.ms).toFixed(2) : '-',
    `≤ ${budget.toFixed(2)}`,
    `${figure(fairlead.bytes / 1e6)} MB`,
    envoy ? `${figure(envoy.bytes / 1e6)} MB` : '-',
  ]);
  const head = ['page', 'fairlead', 'envoy', '÷ envoy', 'budget', 'fairlead', 'envoy'];
  const memory = Object.entries(peaks).map(
    ([name, { residentMiB, peakMiB }]) =>
      `${name}: ${figure(residentMiB)} MiB resident, at most ${figure(peakMiB)} MiB`,
  );
  return `## Time of a page\n\n${markdownTable(head, cells)}\n\n${memory.join('; ')}`;
}

// ---- traffic ----

/** Windows with a page asked for again and again, and windows without, in turn. */
async function measureTraffic({ listenPort, adminPort }, loadProgram, rounds) {
  const load = async () =>
    JSON.parse(
      await runProcess(loadProgram, [
        String(listenPort),
        '/100',
        String(LOAD_CONNECTIONS),
        String(WINDOW_SECONDS),
      ]),
    );
  await load();
  const quiet = [];
  const busy = PAGES.map(() => []);
  for (let round = 0; round < rounds; ++round) {
    for (const [index, { path }] of PAGES.entries()) {
      quiet.push(await load());
      const reader = startProcess('nice', [
        '-n',
        '19',
        process.execPath,
        READER,
        String(adminPort),
        path,
      ]);
      busy[index].push(await load());
      await reader.stop();
    }
  }
  const p99Of = (all) => median(all.map(({ p99_us: us }) => us));
  return {
    quietUs: p99Of(quiet),
    pages: PAGES.map(({ path }, index) => ({ path, us: p99Of(busy[index]), samples: busy[index] })),
    samples: quiet,
  };
}

function trafficText(byName) {
  const names = Object.keys(byName);
  const cells = [
    ['none', ...names.flatMap((name) => [`${figure(byName[name].quietUs)} µs`, ''])],
    ...PAGES.map(({ path }, index) => [
      path,
      ...names.flatMap((name) => {
        const { quietUs, pages } = byName[name];
        const { us } = pages[index];
        return [`${figure(us)} µs`, `${((us / quietUs - 1) * 100).toFixed(0)} %`];
      }),
    ]),
  ];
  const head = ['page asked for all the while', ...names.flatMap((name) => [name, 'more'])];
  return `## p99 of traffic at full load (${LOAD_CONNECTIONS} connections)\n\n${markdownTable(head, cells)}`;
}

// ---- scrapers ----

function scrapersText(result) {
  const lines = [
    `${result.scrapers} scrapers for ${result.seconds} s, ${result.pages} pages of ${figure(result.bytes / 1e6)} MB; requests meanwhile: ${result.requests}`,
    `failed pages: ${result.failures.length}; requests sent but not counted: ${result.uncounted}`,
    `the control thread was held up by its work for at most ${figure(result.delay.workMs)} ms (by garbage: ${figure(result.delay.gcMs)} ms); with waiting for its processor ${figure(result.delay.maxMs)} ms (p99 ${figure(result.delay.p99Ms)} ms)`,
  ];
  return `## Scrapers at full load\n\n${lines.join('\n')}`;
}
