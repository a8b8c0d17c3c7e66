import { statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Links are followed; false: nothing is there, or something else. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Whether a file of that path could be there; one that ends in "/" is what the folder has. */
export function hasFolder(path: string): boolean {
  return isFolder(path.endsWith('/') ? path : dirname(path));
}
