// Notices that a symbolic link was swapped, which is how a runtime layer on disk is replaced at once.
import { lstatSync, watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';
import { guarded } from '../base/bugs.js';

export class DiskWatch {
  readonly #watcher: FSWatcher;

  /** `onSwap`: another link (or folder) has taken the place of `path`. Throws without its parent. */
  constructor(path: string, onSwap: () => void) {
    let known = identityOf(path);
    const look = (event: string, name: string | null): void => {
      if (event !== 'rename' || name !== basename(path)) return;
      const before = known;
      known = identityOf(path);
      if (known !== undefined && known !== before) onSwap();
    };
    const options = { persistent: false };
    this.#watcher = watch(dirname(path), options, guarded('the watch of a runtime layer', look));
    // The parent was removed: there is nothing to be noticed any more.
    this.#watcher.on('error', () => this.#watcher.close());
  }

  close(): void {
    this.#watcher.close();
  }
}

/** Of the link itself; undefined when there is none. */
function identityOf(path: string): string | undefined {
  const status = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return status && `${status.dev}:${status.ino}:${status.ctimeNs}`;
}
