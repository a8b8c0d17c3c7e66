// Notices that a file was replaced, or that something was moved into a folder: how resources are
// changed at once; or says every so often that it may have been. What is merely written to may be half there, and is left alone unless asked for.
import { lstatSync, readdirSync, watch, type FSWatcher } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { guarded } from '../base/bugs.js';
import { startInterval, startTimeout } from '../base/timers.js';
import type { FileSource } from '../plan/sources.js';

/** What is made in a folder only to be moved is gone by then: it does not count. */
const SETTLING_MS = 20;

export interface WatchedFile extends Omit<FileSource, 'kind'> {
  /** What is moved into its place is not noticed, where no folder is watched. */
  readonly ignoresMoves?: boolean;
  /** That it is written to is noticed, too. */
  readonly watchesOwnWrites?: boolean;
}

export class FileWatch {
  readonly #watchers: FSWatcher[] = [];
  readonly #onChange: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** Throws where there is nothing to watch. */
  constructor(source: WatchedFile, onChange: () => void) {
    this.#onChange = onChange;
    const { path, watchedDirectory, watchesWrites, pollMs } = source;
    if (pollMs !== undefined) {
      this.#timer = startInterval(onChange, pollMs).unref();
      return;
    }
    if (watchedDirectory !== undefined) this.#watchMoves(watchedDirectory, undefined);
    else if (!source.ignoresMoves) this.#watchMoves(dirname(path), basename(path));
    // As the real server: whatever is written to there.
    if (watchesWrites && watchedDirectory !== undefined) {
      this.#watch(watchedDirectory, 'change', () => this.#onChange());
    }
    if (!source.watchesOwnWrites) return;
    this.#watch(dirname(path), 'change', (name) => {
      if (name === basename(path)) this.#onChange();
    });
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
  }

  /** `only`: what else comes into the folder does not matter. */
  #watchMoves(folder: string, only: string | undefined): void {
    const known = new Map<string, string | undefined>();
    for (const name of only === undefined ? readdirSync(folder) : [only]) {
      known.set(name, identityOf(join(folder, name)));
    }
    const look = (name: string): void => {
      if (this.#isClosed) return;
      const before = known.get(name);
      const now = identityOf(join(folder, name));
      if (now === undefined) known.delete(name);
      else known.set(name, now);
      if (now !== undefined && now !== before) this.#onChange();
    };
    this.#watch(folder, 'rename', (name) => {
      if (only === undefined) startTimeout(() => look(name), SETTLING_MS).unref();
      else if (name === only) look(name);
    });
  }

  #watch(folder: string, wanted: string, onEvent: (name: string) => void): void {
    const look = (event: string, name: string | null): void => {
      if (event === wanted && name !== null) onEvent(name);
    };
    const watcher = watch(folder, { persistent: false }, guarded('the watch of a resource', look));
    // The folder was removed: there is nothing to be noticed any more.
    watcher.on('error', () => watcher.close());
    this.#watchers.push(watcher);
  }
}

/** Of a link itself, not of what it leads to; undefined when there is nothing. */
function identityOf(path: string): string | undefined {
  const status = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return status && `${status.dev}:${status.ino}:${status.ctimeNs}`;
}
