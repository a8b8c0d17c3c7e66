// Tests in TypeScript, run by node:test. They are bundled one by one: Node 20 does not read TypeScript.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { root } from './set-up.mjs';

const testDir = join(root, 'test');
const outDir = join(root, 'build', 'test');

/** Of one test file, and so of one test: several times what the longest takes on a busy machine. */
export const FILE_LIMIT_MS = 300_000;

function testFiles(kind) {
  const folder = join(testDir, kind);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true });
  return names.filter((name) => name.endsWith('.test.ts')).map((name) => join(folder, name));
}

/** Those of test/KIND, or these of them; resolves with what they have become. */
export async function bundleTests(kind, names) {
  const { build } = await import('esbuild');
  const files = names?.map((name) => join(testDir, kind, name)) ?? testFiles(kind).sort();
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

export const testOptions = (limitMs) => [
  '--enable-source-maps',
  '--test',
  `--test-timeout=${limitMs}`,
  '--test-reporter=spec',
  // By default one less than there are processors: stories wait more than they work.
  `--test-concurrency=${Math.max(2, availableParallelism())}`,
];
