// Builds the addon with node-gyp, against the headers beside the running Node when they are there, so
// that nothing is downloaded. Does nothing when neither the sources nor Node changed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nativeFiles } from './native-sources.mjs';
import { findNodeDir } from './nodedir.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const addon = join(root, 'build', 'Release', 'fairlead.node');
const stampFile = join(root, 'build', 'native.stamp');

function stampOfSources() {
  const digest = createHash('sha256').update(process.versions.modules + process.arch);
  for (const file of ['binding.gyp', ...nativeFiles(['.cc', '.h'])]) {
    digest.update(file).update(readFileSync(join(root, file)));
  }
  return digest.digest('hex');
}

/** What the build needs of the machine; the name is the Debian package. */
function missingTools() {
  const tools = { 'g++': 'g++', make: 'make', python3: 'python3' };
  return Object.entries(tools)
    .filter(([command]) => spawnSync(command, ['--version'], { stdio: 'ignore' }).error)
    .map(([, name]) => name);
}

const stamp = stampOfSources();
if (existsSync(addon) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) process.exit(0);

const missing = missingTools();
if (missing.length > 0) {
  console.error(`fairlead: cannot build the native addon without ${missing.join(', ')}; try: apt-get install ${missing.join(' ')}`);
  process.exit(1);
}
console.error('fairlead: building the native addon (about a minute)');
const gyp = createRequire(import.meta.url).resolve('node-gyp/bin/node-gyp.js');
const nodeDir = findNodeDir();
const jobs = process.env.FAIRLEAD_BUILD_JOBS ?? String(availableParallelism());
const options = ['--jobs', jobs, '--loglevel', 'warn', ...(nodeDir ? [`--nodedir=${nodeDir}`] : [])];
// Never "rebuild": it would compile again what did not change.
for (const step of ['configure', 'build']) {
  const result = spawnSync(process.execPath, [gyp, step, ...options], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (result.status !== 0) {
    console.error(`fairlead: node-gyp ${step} failed`);
    process.exit(result.status ?? 1);
  }
}
mkdirSync(dirname(stampFile), { recursive: true });
writeFileSync(stampFile, stamp);
