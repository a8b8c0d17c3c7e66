// npm test: everything that CI runs, from a fresh clone on. --only generate|lint|native|unit|integration
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, setUp } from './set-up.mjs';

const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined;
const outDir = join(root, 'build', 'test');

function testFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

/** Tests are bundled one by one: Node 20 does not read TypeScript. */
async function compileTests(kind) {
  const { build } = await import('esbuild');
  const files = testFiles(join(root, 'test', kind));
  rmSync(join(outDir, kind), { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: files,
    outbase: join(root, 'test'),
    outdir: outDir,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    packages: 'external',
    sourcemap: 'linked',
    outExtension: { '.js': '.mjs' },
    logLevel: 'warning',
  });
  return files.map((file) => join(outDir, file.slice(join(root, 'test').length + 1).replace(/\.ts$/, '.mjs')));
}

const node = (...args) => ({ command: process.execPath, args });
async function nodeTests(kind) {
  const files = await compileTests(kind);
  return node('--enable-source-maps', '--test', '--test-reporter=spec', ...(kind === 'integration' ? ['--test-concurrency=2'] : []), ...files);
}

const steps = [
  { name: 'generate', run: async () => node('proto/generate.mjs', '--check') },
  { name: 'lint', run: async () => node('scripts/lint.mjs') },
  { name: 'native', run: async () => node('scripts/test-native.mjs') },
  { name: 'unit', run: () => nodeTests('unit') },
  { name: 'integration', run: () => nodeTests('integration') },
];

setUp();
const results = [];
for (const step of steps) {
  if (only !== undefined && only !== step.name) continue;
  console.log(`\n== ${step.name}`);
  const started = Date.now();
  const { command, args } = await step.run();
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  results.push({ name: step.name, ok: status === 0, seconds: Math.round((Date.now() - started) / 1000) });
}
console.log('\n== summary');
for (const result of results) console.log(`${result.ok ? 'ok    ' : 'FAILED'} ${result.name} (${result.seconds} s)`);
process.exitCode = results.length > 0 && results.every((result) => result.ok) ? 0 : 1;
