// What is run for each epoch.
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../base/package-root.js';

export interface Command {
  readonly file: string;
  /** Throws an error for a person when it cannot be said. */
  arguments(epoch: number): readonly string[];
  /** Nothing is run any more. */
  close?(): void;
}

/** Looked for as a shell does. */
export function plainCommand(file: string, args: readonly string[]): Command {
  return { file, arguments: () => args };
}

/** A name alone is first of all that of a file in this folder, as the customary restarter has it. */
export function scriptCommand(file: string, args: readonly string[]): Command {
  const isHere = !file.includes('/') && isExecutable(file);
  return plainCommand(isHere ? `./${file}` : file, args);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

export interface BaseIdOptions {
  readonly hasDynamicBaseId: boolean;
  /** A file to which the proxy writes its base id. */
  readonly baseIdPath?: string;
}

/** Fairlead itself: what is installed beside the restarter when it is run. */
export function fairleadCommand(options: readonly string[], baseId: BaseIdOptions): Command {
  const program = [...process.execArgv, join(packageRoot(), 'dist', 'cli.js')];
  const epochOption = (epoch: number): string[] => ['--restart-epoch', String(epoch)];
  if (!baseId.hasDynamicBaseId) {
    return {
      file: process.execPath,
      arguments: (epoch) => [...program, ...options, ...epochOption(epoch)],
    };
  }
  const folder =
    baseId.baseIdPath === undefined ? mkdtempSync(join(tmpdir(), 'fairlead-restarter-')) : '';
  const path = baseId.baseIdPath ?? join(folder, 'base-id');
  const writesFile = folder === '' ? [] : ['--base-id-path', path];
  return {
    file: process.execPath,
    // Only the first epoch may choose; its successors need the id that it has chosen.
    arguments: (epoch) => [
      ...program,
      ...(epoch === 0 ? [...options, ...writesFile] : withBaseId(options, path)),
      ...epochOption(epoch),
    ],
    close: () => {
      if (folder !== '') rmSync(folder, { recursive: true, force: true });
    },
  };
}

function withBaseId(options: readonly string[], path: string): readonly string[] {
  const id = readFileSync(path, 'utf8').trim();
  return [...options.filter((word) => word !== '--use-dynamic-base-id'), '--base-id', id];
}
