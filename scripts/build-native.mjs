// Builds the addon, dist/fairlead.node, with node-gyp, against the headers beside the running Node where
// they are, so that nothing is downloaded. Does nothing when the sources did not change: what was built
// with one version of Node runs with all of them (Node-API).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { nativeFiles } from './native-sources.mjs';
import { findNodeDir } from './nodedir.mjs';
import { must, root, say } from './set-up.mjs';

const built = join(root, 'build', 'Release', 'fairlead.node');
const addon = join(root, 'dist', 'fairlead.node');
const stampFile = join(root, 'build', 'native.stamp');
/** Commands that the build runs, and the Debian packages that they are in. */
const TOOLS = { 'g++': 'g++', make: 'make', python3: 'python3' };

function stampOfSources() {
  const digest = createHash('sha256').update(process.arch);
  for (const file of ['binding.gyp', ...nativeFiles(['.cc', '.h'])]) {
    digest.update(file).update(readFileSync(join(root, file)));
  }
  return digest.digest('hex');
}

function missingPackages() {
  const isMissing = ([command]) => spawnSync(command, ['--version'], { stdio: 'ignore' }).error;
  return Object.entries(TOOLS)
    .filter(isMissing)
    .map(([, name]) => name);
}

function build() {
  const missing = missingPackages();
  if (missing.length > 0) {
    const names = missing.join(' ');
    say(`the addon cannot be built without ${missing.join(', ')}; try: apt-get install ${names}`);
    process.exit(1);
  }
  const jobs = process.env.FAIRLEAD_BUILD_JOBS ?? String(availableParallelism());
  say(`building the addon with ${jobs} jobs: this takes a minute or two`);
  const gyp = createRequire(import.meta.url).resolve('node-gyp/bin/node-gyp.js');
  const nodeDir = findNodeDir();
  const options = [
    '--jobs',
    jobs,
    '--loglevel',
    'warn',
    ...(nodeDir ? [`--nodedir=${nodeDir}`] : []),
  ];
  // npm's own setting of the same name would win over the option.
  const { npm_config_nodedir: _, ...env } = process.env;
  const started = Date.now();
  // Not "rebuild", which compiles again what did not change.
  for (const step of ['configure', 'build']) {
    const stdio = ['ignore', 'ignore', 'inherit'];
    must(`node-gyp ${step}`, process.execPath, [gyp, step, ...options], { stdio, env });
  }
  say(`built the addon in ${Math.round((Date.now() - started) / 1000)} s`);
}

/** At once, and as a new file: a process that runs keeps the one that it has mapped. */
function install() {
  mkdirSync(dirname(addon), { recursive: true });
  copyFileSync(built, `${addon}.new`);
  renameSync(`${addon}.new`, addon);
}

const stamp = stampOfSources();
const isUpToDate =
  existsSync(addon) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
if (!isUpToDate) {
  build();
  install();
  writeFileSync(stampFile, stamp);
}
