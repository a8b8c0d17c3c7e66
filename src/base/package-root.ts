// Where the package is installed: what lies beside the compiled code (schema, addon, package.json) is
// found from here, whether this runs bundled, compiled or from a test's output folder.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

let found: string | undefined;

/** The folder that holds fairlead's package.json and binding.gyp. */
export function packageRoot(): string {
  if (found !== undefined) return found;
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'binding.gyp'))) {
    const above = dirname(folder);
    if (above === folder)
      throw new Error('fairlead is not installed completely: binding.gyp is missing');
    folder = above;
  }
  found = folder;
  return folder;
}
