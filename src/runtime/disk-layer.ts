// A runtime layer on disk: a file is a key, folders are joined by dots.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { envoy_config_bootstrap_v3_RuntimeLayer_DiskLayer as DiskLayer } from '../../build/messages.gen.js';
import { isFolder } from '../base/is-folder.js';
import { readEntry, type RuntimeEntries, type RuntimeEntry } from './layer.js';

/** Links may make a folder its own child. */
const MAX_DEPTH = 16;

/** The folder of a layer's files. */
export function diskFolder(layer: DiskLayer, serviceCluster: string): string {
  const { symlink_root: root = '', subdirectory = '', append_service_cluster: appends } = layer;
  return join(root, subdirectory, appends ? serviceCluster : '');
}

/** Undefined without the folder. Throws when something in it cannot be read. */
export function readDiskLayer(folder: string): RuntimeEntries | undefined {
  if (!isFolder(folder)) return undefined;
  const entries = new Map<string, RuntimeEntry>();
  readFolder(folder, '', 1, entries);
  return entries;
}

function readFolder(
  folder: string,
  prefix: string,
  depth: number,
  entries: Map<string, RuntimeEntry>,
): void {
  if (depth > MAX_DEPTH) throw new Error(`Walk recursion depth exceeded ${MAX_DEPTH}`);
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    const status = statSync(path);
    if (status.isDirectory()) readFolder(path, `${prefix}${name}.`, depth + 1, entries);
    else if (status.isFile()) entries.set(prefix + name, readFile(path));
  }
}

/** Comments, empty lines and blanks at the end do not belong to the value; before a comment a line ends. */
function readFile(path: string): RuntimeEntry {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  const kept = lines
    .map((line, index) => (index === lines.length - 1 ? line.trimEnd() : `${line}\n`))
    .filter((line) => !line.startsWith('#'));
  const entry = readEntry(kept.join(''));
  if ('fault' in entry) throw new Error(`${path}: ${entry.fault}`);
  return entry;
}
