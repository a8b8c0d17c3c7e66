// Tests in TypeScript, run by node:test. They are bundled: Node 20 does not read TypeScript.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join, relative, sep } from 'node:path';
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

async function bundle(options) {
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: root,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    packages: 'external',
    sourcemap: 'linked',
    logLevel: 'warning',
    ...options,
  });
}

/** Those of test/KIND, or these of them; resolves with what they have become. */
export async function bundleTests(kind, names) {
  const files = names?.map((name) => join(testDir, kind, name)) ?? testFiles(kind).sort();
  rmSync(join(outDir, kind), { recursive: true, force: true });
  await bundle({ entryPoints: files, outbase: testDir, outdir: outDir });
  return files.map((file) => join(outDir, relative(testDir, file).replace(/\.ts$/, '.mjs')));
}

/**
 * All of test/KIND, those of each of its folders for one process: most are done long before a process of
 * their own would have begun. Resolves with what they have become.
 */
export async function bundleFolders(kind) {
  const entries = join(outDir, `${kind}-entries`);
  const folders = new Map();
  for (const file of testFiles(kind).sort()) {
    const [folder] = relative(join(testDir, kind), file).split(sep);
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  rmSync(entries, { recursive: true, force: true });
  rmSync(join(outDir, kind), { recursive: true, force: true });
  mkdirSync(entries, { recursive: true });
  for (const [folder, files] of folders) {
    const imports = files.map((file) => `import ${JSON.stringify(file)};\n`);
    writeFileSync(join(entries, `${basename(folder, '.test.ts')}.js`), imports.join(''));
  }
  const names = readdirSync(entries);
  await bundle({
    entryPoints: names.map((name) => join(entries, name)),
    outdir: join(outDir, kind),
  });
  return names.map((name) => join(outDir, kind, name.replace(/\.js$/, '.mjs')));
}

export const testOptions = (limitMs) => [
  '--enable-source-maps',
  '--test',
  `--test-timeout=${limitMs}`,
  '--test-reporter=spec',
  // By default one less than there are processors: stories wait more than they work.
  `--test-concurrency=${Math.max(2, availableParallelism())}`,
];
