// npm test: everything that a change must pass, from a fresh clone on.
//   --only generate|lint|types|native|chaos|unit|integration|package|node-22|node-24   one of its parts
import { spawn } from 'node:child_process';
import { valueOf } from './arguments.mjs';
import { FILE_LIMIT_MS, bundleTests, testOptions } from './node-tests.mjs';
import { MAJORS, nodeOf } from './nodes.mjs';
import { root, say, setUp } from './set-up.mjs';

const node = (...args) => ({ command: process.execPath, args });

async function nodeTests(kind, limitMs = FILE_LIMIT_MS) {
  return node(...testOptions(limitMs), ...(await bundleTests(kind)));
}

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
  // With AddressSanitizer and UBSan: what is wrong with memory fails here, and checks are on as ever.
  { name: 'native', minutes: 20, run: () => node('scripts/test-native.mjs', '--sanitize') },
  // Takes the objects of the part before.
  { name: 'chaos', minutes: 10, run: () => node('scripts/test-chaos.mjs') },
  { name: 'unit', minutes: 10, run: () => nodeTests('unit') },
  { name: 'integration', minutes: 25, run: () => nodeTests('integration') },
  { name: 'package', minutes: 30, run: () => nodeTests('package', 30 * 60_000) },
  ...otherMajors.map((major) => ({
    name: `node-${major}`,
    minutes: 10,
    run: () => otherNode(major),
  })),
];

/** The process group of the part that runs. */
let group;

function endGroup() {
  if (group === undefined) return;
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    endGroup();
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
      endGroup();
    }, minutes * 60_000);
    child.on('exit', (code) => {
      clearTimeout(timer);
      endGroup();
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
const results = [];
for (const part of parts) results.push(await runPart(part));
console.log('\n== summary');
for (const { name, isGood, seconds } of results) {
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
}
process.exitCode = results.every(({ isGood }) => isGood) ? 0 : 1;
