// Holds the houses of src/ and native/ as they are meant: the layers below, each of which may use those
// under it and no other; in src/ no circle among the entries of any folder either.
// `node scripts/layers.mjs` prints what is not so.
import { readFileSync, readdirSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Entries of src/, from the top down; src/README.md says what each is. */
const LAYERS = [
  ['main.ts', 'index.ts', 'launch.cts', 'restarter', 'ui'],
  ['cli'],
  ['server'],
  ['admin'],
  ['credentials', 'jwks', 'log-services', 'overload', 'runtime', 'tracing', 'xds'],
  ['stats'],
  ['otlp'],
  ['http'],
  ['grpc', 'hot-restart', 'taps'],
  ['extensions'],
  ['plan'],
  ['config', 'options'],
  ['logging', 'lifecycle', 'service-manager.ts'],
  ['native.ts'],
  ['native-hot-restart.ts', 'native-stats.ts'],
  ['base'],
];

/** Of native/; native/README.md says what each is. */
const NATIVE_LAYERS = [
  ['addon'],
  ['worker'],
  ['tcp'],
  ['proxy'],
  ['filters'],
  ['calls', 'health'],
  ['route'],
  ['access_log', 'tracing', 'upstream'],
  ['caches', 'format', 'tls'],
  ['hot_restart', 'http', 'log_files'],
  ['net'],
  ['coding', 'match'],
  ['log', 'plan', 'stats'],
  ['base', 'profile'],
];

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;

/** What a source imports of the sources, types too: [from, to] each, as paths. */
export function importsOf(file, text) {
  return [...text.matchAll(IMPORT)].map(([, path]) => [
    file,
    posix.join(posix.dirname(file), path).replace(/js$/, 'ts'),
  ]);
}

/** What a C++ source includes of the sources. */
export function includesOf(file, text) {
  return [...text.matchAll(/^#include "([^"]+)"/gm)].map(([, path]) => [file, path]);
}

/** What `read` finds within `folder`, a path, in files with such an end. */
function importsBelow(folder, end, read) {
  return readdirSync(folder, { recursive: true })
    .map((name) => name.split(sep).join('/'))
    .filter((name) => end.test(name))
    .flatMap((name) => read(name, readFileSync(join(folder, name), 'utf8')))
    .filter(([, to]) => !to.startsWith('../'));
}

const topOf = (path) => path.split('/')[0];

/** A sentence for each import that does not lead down. */
export function upwardImports(imports, layers = LAYERS, house = 'src') {
  const levelOf = (path) => layers.findIndex((layer) => layer.includes(topOf(path)));
  return imports.flatMap(([from, to]) => {
    if (topOf(from) === topOf(to)) return [];
    const [user, used] = [levelOf(from), levelOf(to)];
    const stranger = [user < 0 && from, used < 0 && to].find(Boolean);
    if (stranger)
      return [`${house}/${topOf(stranger)} has no layer: scripts/layers.mjs gives it one`];
    return used > user
      ? []
      : [`${house}/${from} imports ${house}/${to}, which is not in a layer below it`];
  });
}

/** A sentence for each circle among the entries (files and folders) of a folder. */
export function circles(imports) {
  return [...edgesByFolder(imports)].flatMap(([folder, edges]) =>
    circlesOf(edges).map((names) => {
      const ways = names.map((name, at) => edges.get(name).get(names[(at + 1) % names.length]));
      return `${[...names, names[0]].join(' → ')} in src/${folder}: ${ways.join(', ')}`;
    }),
  );
}

/** Folder → its entry → another of its entries → an import that leads there. */
function edgesByFolder(imports) {
  const folders = new Map();
  for (const [from, to] of imports) {
    const [parts, others] = [from.split('/'), to.split('/')];
    let depth = 0;
    while (parts[depth] !== undefined && parts[depth] === others[depth]) depth++;
    if (depth === parts.length) continue;
    const folder = parts.slice(0, depth).join('/');
    if (!folders.has(folder)) folders.set(folder, new Map());
    const edges = folders.get(folder);
    if (!edges.has(parts[depth])) edges.set(parts[depth], new Map());
    edges.get(parts[depth]).set(others[depth], `${from} → ${to}`);
  }
  return folders;
}

/** One circle for each edge that leads back while all is walked through, depth first. */
function circlesOf(edges) {
  const found = [];
  const done = new Set();
  const walk = (name, way) => {
    if (way.includes(name)) found.push(way.slice(way.indexOf(name)));
    else if (!done.has(name)) {
      for (const next of edges.get(name)?.keys() ?? []) walk(next, [...way, name]);
      done.add(name);
    }
  };
  for (const name of edges.keys()) walk(name, []);
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pathOf = (house) => fileURLToPath(new URL(`../${house}`, import.meta.url));
  const imports = importsBelow(pathOf('src'), /\.c?ts$/, importsOf);
  const includes = importsBelow(pathOf('native'), /\.(cc|h)$/, includesOf);
  const upward = new Set([
    ...upwardImports(imports),
    ...upwardImports(includes, NATIVE_LAYERS, 'native'),
  ]);
  // An import that leads up closes circles with all between; it is enough to name it.
  const faults = upward.size > 0 ? [...upward] : circles(imports);
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
