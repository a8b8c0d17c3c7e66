// Whether a log file could be opened, without opening it: validation touches no file.
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Place } from '../message/place.js';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'No such file or directory',
  EACCES: 'Permission denied',
  EISDIR: 'Is a directory',
  ENOTDIR: 'Not a directory',
  EROFS: 'Read-only file system',
  ELOOP: 'Too many levels of symbolic links',
  ENAMETOOLONG: 'File name too long',
};

/** An error at `place` where nothing could be written to the file. */
export function checkLogPath(path: string, place: Place): void {
  if (path === '') return;
  const code = openFault(path);
  if (code !== undefined)
    place.error(`unable to open file '${path}': ${REASONS[code] ?? code}`, {
      expected: 'a file that can be written, or a new one in a folder that can',
    });
}

function openFault(path: string): string | undefined {
  try {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
    if (isFolder) return 'EISDIR';
    const target = isFolder === undefined ? dirname(path) : path;
    accessSync(target, constants.W_OK);
    // None can be made where the name is that of a folder.
    return path.endsWith('/') ? 'EISDIR' : undefined;
  } catch (error) {
    return (error as { readonly code?: string }).code ?? 'EIO';
  }
}
