// Builds everything that is not the addon: the schema, the type check, the command's bundle and the
// library. Does nothing when no source changed.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stampFile = join(root, 'dist', 'stamp');

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

function run(what, command, args) {
  console.error(`fairlead: ${what}`);
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (result.status !== 0) {
    console.error(`fairlead: ${what} failed`);
    process.exit(result.status ?? 1);
  }
}

/** The commit that is built; zeros outside a repository. */
function revision() {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '0'.repeat(40);
  }
}

run('building what the addon needs', process.execPath, ['scripts/build-native.mjs']);
const inputs = [...filesBelow(join(root, 'src')), ...filesBelow(join(root, 'scripts')), join(root, 'package.json'), join(root, 'tsconfig.json')];
const digest = createHash('sha256').update(revision());
for (const file of inputs.sort()) digest.update(file.slice(root.length)).update(readFileSync(file));
const stamp = digest.digest('hex');
const outputs = ['dist/cli.js', 'dist/index.js', 'build/schema.json'];
if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp && outputs.every((file) => existsSync(join(root, file)))) {
  process.exit(0);
}
run('making the schema', process.execPath, ['scripts/gen-schema.mjs']);
run('checking types', process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']);
console.error('fairlead: bundling');
const { build } = await import('esbuild');
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  // Dependencies stay packages: heavy ones are loaded only when they are needed.
  packages: 'external',
  sourcemap: 'linked',
  logLevel: 'warning',
};
await build({ ...common, entryPoints: ['src/main.ts'], outfile: 'dist/cli.js', banner: { js: '#!/usr/bin/env node' } });
await build({ ...common, entryPoints: ['src/index.ts'], outfile: 'dist/index.js' });
chmodSync(join(root, 'dist', 'cli.js'), 0o755);
mkdirSync(join(root, 'dist'), { recursive: true });
writeFileSync(join(root, 'dist', 'index.d.ts'), "export * from './types/src/index.js';\n");
writeFileSync(join(root, 'dist', 'revision'), revision());
writeFileSync(stampFile, stamp);
