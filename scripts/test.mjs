// npm test: everything that a change must pass, from a fresh clone on.
//   --only generate|lint|types|unit|integration|package|node-20|node-22|node-24|native|chaos   one of its parts; of the
//          versions of Node those that are not this one
import { spawn } from 'node:child_process';
import { valueOf } from './arguments.mjs';
import { FILE_LIMIT_MS, bundleFolders, bundleTests, testOptions } from './node-tests.mjs';
import { MAJORS, nodeOf } from './nodes.mjs';
import { root, say, setUp } from './set-up.mjs';

const node = (...args) => ({ command: process.execPath, args });

const nodeTests = (files, limitMs = FILE_LIMIT_MS) => node(...testOptions(limitMs), ...files);

/** Stories that between them go all ways through the command, the addon and the library. */
const SMOKE = [
  'admin.test.ts',
  'completion.test.ts',
  'http-filters.test.ts',
  'library.test.ts',
  'restarter/fairlead.test.ts',
  'start-and-end.test.ts',
  'stats-sinks.test.ts',
];

/** With the addon that this Node has built, another runs what says that it works. */
async function otherNode(major) {
  const files = await bundleTests('integration', SMOKE);
  return { command: nodeOf(major), args: [...testOptions(FILE_LIMIT_MS), ...files] };
}

const otherMajors = MAJORS.filter((major) => `${major}` !== process.versions.node.split('.')[0]);

/** With the minutes that each may take: what hangs is a failure, and the rest is still told. */
const PARTS = [
  { name: 'generate', minutes: 5, run: () => node('proto/generate.mjs', '--check') },
  { name: 'lint', minutes: 10, run: () => node('scripts/lint.mjs') },
  {
    name: 'types',
    minutes: 5,
    run: () => node('node_modules/typescript/bin/tsc', '-p', 'test/tsconfig.json'),
  },
  { name: 'unit', minutes: 10, run: async () => nodeTests(await bundleFolders('unit')) },
  {
    name: 'integration',
    minutes: 25,
    run: async () => nodeTests(await bundleTests('integration')),
  },
  {
    name: 'package',
    minutes: 30,
    run: async () => nodeTests(await bundleTests('package'), 30 * 60_000),
  },
  ...otherMajors.map((major) => ({
    name: `node-${major}`,
    minutes: 10,
    run: () => otherNode(major),
  })),
  // With AddressSanitizer and UBSan: what is wrong with memory fails here, and checks are on as ever.
  { name: 'native', minutes: 20, run: () => node('scripts/test-native.mjs', '--sanitize') },
  // Takes the objects of the part before.
  { name: 'chaos', minutes: 10, run: () => node('scripts/test-chaos.mjs') },
];

/**
 * Compiles what the last two parts take while the others mostly wait, at a priority that holds none of
 * them up. Resolves when it has ended; what is wrong is told when those parts compile it again.
 */
function compileBehind() {
  const { command, args } = node('scripts/test-native.mjs', '--sanitize', '--build');
  const child = spawn('nice', ['-n', '19', command, ...args], {
    cwd: root,
    stdio: 'ignore',
    detached: true,
  });
  behind = child.pid;
  return new Promise((resolve) => {
    const end = () => {
      behind = undefined;
      resolve();
    };
    child.on('exit', end);
    child.on('error', end);
  });
}

/** The process group of the part that runs. */
let group;
/** That of what is compiled meanwhile. */
let behind;

function endGroup(leader) {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    endGroup(group);
    endGroup(behind);
    process.exit(1);
  });
}

/** Resolves with whether it ended well in time. Nothing that it started outlives it. */
function ends({ command, args }, name, minutes) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', detached: true });
    group = child.pid;
    const timer = setTimeout(() => {
      say(`${name} did not end within ${minutes} minutes`);
      endGroup(group);
    }, minutes * 60_000);
    child.on('exit', (code) => {
      clearTimeout(timer);
      endGroup(group);
      group = undefined;
      resolve(code === 0);
    });
  });
}

async function runPart({ name, minutes, run }) {
  console.log(`\n== ${name}`);
  const started = Date.now();
  const isGood = await ends(await run(), name, minutes);
  return { name, isGood, seconds: Math.round((Date.now() - started) / 1000) };
}

const only = valueOf('only');
const parts = PARTS.filter(({ name }) => only === undefined || name === only);
if (parts.length === 0) {
  say(`there is no part '${only}'; there are ${PARTS.map(({ name }) => name).join(', ')}`);
  process.exit(1);
}
setUp();
const compiled = only === undefined ? compileBehind() : Promise.resolve();
const results = [];
for (const part of parts) {
  if (part.name === 'native') await compiled;
  results.push(await runPart(part));
}
console.log('\n== summary');
for (const { name, isGood, seconds } of results) {
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
}
process.exitCode = results.every(({ isGood }) => isGood) ? 0 : 1;
