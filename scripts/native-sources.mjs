// Writes what the compiler reads, and prints its names: files that each include the sources of several
// folders (binding.gyp, native/Makefile). Headers, and what they make the compiler instantiate, are
// most of the time that a file takes: read once for many, the whole takes less than half.
//   native-sources.mjs                       for the addon; names relative to the package
//   native-sources.mjs --into FOLDER FILE…   for those files, relative to the package; names without folder
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * Folders that are compiled as one, which none of their names may hinder: about as much work each, and
 * none more than the largest folder, so that processors are busy. Any other folder is compiled alone.
 */
const BATCHES = {
  low: ['base', 'base/regex', 'coding', 'log', 'match', 'hot_restart', 'profile'],
  facts: ['format', 'route', 'stats', 'access_log', 'log_files', 'tracing'],
  sockets: ['net', 'tls', 'tcp'],
  codecs: ['http', 'http/http1', 'http/http2'],
  hosts: ['upstream', 'calls', 'health'],
  filters: [
    'filters/jwt',
    'filters/listener',
    'filters/network',
    'filters/transcoder',
    'upstream/outlier',
  ],
  'test-low': [
    'base',
    'coding',
    'log',
    'match',
    'hot_restart',
    'profile',
    'plan',
    'stats',
    'net',
    'support',
  ],
  'test-protocols': [
    'http',
    'http/http1',
    'http/http2',
    'tls',
    'tcp',
    'route',
    'format',
    'tracing',
    'health',
  ],
  'test-requests': [
    'proxy',
    'filters/http',
    'filters/listener',
    'filters/network',
    'filters/transcoder',
    'access_log',
    'log_files',
  ],
  'test-hosts': ['upstream', 'worker', 'addon'],
};

/** What puts all others together is as much work as so many times its size. */
const ALL_OF_OTHERS = 3;

/** Every file below native/ whose name ends so, sorted. */
export function nativeFiles(endings) {
  const walk = (folder) =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return walk(path);
      return endings.some((ending) => entry.name.endsWith(ending)) ? [relative(root, path)] : [];
    });
  return walk(join(root, 'native')).sort();
}

const batchOfFolder = new Map(
  Object.entries(BATCHES).flatMap(([name, folders]) => {
    const above = name.startsWith('test-') ? 'test/native' : 'native';
    return folders.map((folder) => [`${above}/${folder}`, name]);
  }),
);

function batchOf(file) {
  const folder = dirname(file);
  return (
    batchOfFolder.get(folder) ??
    relative('native', folder).replaceAll('../', '').replaceAll('/', '-')
  );
}

/** Left as it is where it says the same: what did not change is not compiled again. */
function writeBatch(into, name, files) {
  const target = join(into, `${name}.cc`);
  // As they include each other's headers.
  const text = files.map((file) => `#include "${file.replace(/^native\//, '')}"\n`).join('');
  if (existsSync(target) && readFileSync(target, 'utf8') === text) return;
  mkdirSync(into, { recursive: true });
  writeFileSync(target, text);
}

/** The names of the batches, the largest first: one that is begun last is not waited for alone then. */
function writeBatches(into, files) {
  const batches = new Map();
  for (const file of files) {
    const name = batchOf(file);
    const batch = batches.get(name) ?? { own: [], bytes: 0 };
    batch.own.push(file);
    batch.bytes += statSync(join(root, file)).size * (name === 'worker' ? ALL_OF_OTHERS : 1);
    batches.set(name, batch);
  }
  for (const [name, { own }] of batches) writeBatch(into, name, own);
  return [...batches.keys()].sort(
    (one, other) => batches.get(other).bytes - batches.get(one).bytes,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [option, into, ...files] = process.argv.slice(2);
  if (option === '--into') {
    console.log(writeBatches(resolve(into), files).join('\n'));
  } else {
    const folder = 'build/batches';
    const names = writeBatches(join(root, folder), nativeFiles(['.cc']));
    console.log(names.map((name) => `${folder}/${name}.cc`).join('\n'));
  }
}
