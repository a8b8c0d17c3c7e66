// npm test: everything that a change must pass, from a fresh clone on.
//   --only generate|lint|types|native|unit|integration   one of its parts
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { valueOf } from './arguments.mjs';
import { root, say, setUp } from './set-up.mjs';

const testDir = join(root, 'test');
const outDir = join(root, 'build', 'test');

function testFiles(kind) {
  const folder = join(testDir, kind);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true });
  return names.filter((name) => name.endsWith('.test.ts')).map((name) => join(folder, name));
}

/** Tests are bundled one by one: Node 20 does not read TypeScript. */
async function bundleTests(kind) {
  const { build } = await import('esbuild');
  const files = testFiles(kind).sort();
  rmSync(join(outDir, kind), { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: files,
    outbase: testDir,
    outdir: outDir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    packages: 'external',
    sourcemap: 'linked',
    logLevel: 'warning',
  });
  return files.map((file) => join(outDir, relative(testDir, file).replace(/\.ts$/, '.mjs')));
}

const node = (...args) => ({ command: process.execPath, args });

async function nodeTests(kind) {
  return node(
    '--enable-source-maps',
    '--test',
    '--test-reporter=spec',
    ...(await bundleTests(kind)),
  );
}

const PARTS = [
  { name: 'generate', run: () => node('proto/generate.mjs', '--check') },
  { name: 'lint', run: () => node('scripts/lint.mjs') },
  { name: 'types', run: () => node('node_modules/typescript/bin/tsc', '-p', 'test/tsconfig.json') },
  { name: 'native', run: () => node('scripts/test-native.mjs') },
  { name: 'unit', run: () => nodeTests('unit') },
  { name: 'integration', run: () => nodeTests('integration') },
];

async function runPart({ name, run }) {
  console.log(`\n== ${name}`);
  const started = Date.now();
  const { command, args } = await run();
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  return { name, isGood: status === 0, seconds: Math.round((Date.now() - started) / 1000) };
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
