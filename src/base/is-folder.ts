import { statSync } from 'node:fs';

/** Links are followed; false: nothing is there, or something else. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
