// Writes what binding.gyp compiles, and prints its names, relative to the package: for each folder below
// native/ one file that includes its sources. Read once for all of them, headers cost a fifth of the time.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

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

/** Left as it is where it says the same: what did not change is not compiled again. */
function writeBatch([folder, files]) {
  const path = join('build', 'batches', `${folder.replaceAll('/', '-')}.cc`);
  const text = files.map((file) => `#include "${file}"\n`).join('');
  const target = join(root, path);
  if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  return path;
}

function writeBatches() {
  const folders = new Map();
  for (const path of nativeFiles(['.cc'])) {
    const file = relative('native', path);
    folders.set(dirname(file), [...(folders.get(dirname(file)) ?? []), file]);
  }
  return [...folders].map(writeBatch);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(writeBatches().join('\n'));
}
