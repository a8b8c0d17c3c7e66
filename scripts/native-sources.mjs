// Prints the addon's C++ sources for binding.gyp, relative to the package.
import { readdirSync } from 'node:fs';
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(nativeFiles(['.cc']).join('\n'));
}
