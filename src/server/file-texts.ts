// Files that formats tell of (%FILE_CONTENT(…)%), or bodies of direct responses: read again as they are written to,
// and as something is moved into the folder that is named beside them.
import type { NativeProxy } from '../native.js';
import { readContent } from '../plan/format-string/formatters.js';
import type { FileTextSource, LiveSources } from '../plan/live-sources.js';
import { encodeUpdate } from '../plan/plan.gen.js';
import { FileWatch } from '../xds/file-watch.js';

export interface FileTextsHost {
  readonly native: NativeProxy;
  log(level: 'error', message: string): void;
}

export class FileTexts {
  readonly #host: FileTextsHost;
  readonly #watches: FileWatch[] = [];
  #isStopped = false;

  constructor(live: LiveSources, host: FileTextsHost) {
    this.#host = host;
    live.follow((_, source) => {
      if (source.kind === 'file' && !this.#isStopped) this.#watch(source);
    });
  }

  stop(): void {
    this.#isStopped = true;
    for (const watch of this.#watches) watch.close();
  }

  #watch(source: FileTextSource): void {
    const { path, ignoresWrites = false } = source.file;
    try {
      const writes = { watchesWrites: false, watchesOwnWrites: !ignoresWrites };
      const options = { ...writes, ignoresMoves: true };
      const watch = new FileWatch({ ...source.file, ...options }, () => this.#read(source));
      this.#watches.push(watch);
    } catch (error) {
      this.#host.log('error', `cannot watch ${path}: ${(error as Error).message}`);
    }
  }

  /** What formats had stays, where it cannot be read. */
  #read({ name, file }: FileTextSource): void {
    const value = readContent(file.path);
    if (typeof value === 'string') this.#host.log('error', `Failed to read file: ${value}`);
    else if (value.length > (file.maxBytes ?? Infinity)) {
      this.#host.log('error', `Failed to read file: ${file.path} has ${value.length} bytes`);
    }
    // Formats that are no longer are nobody's trouble: others may come with the same file.
    else this.#host.native.apply(encodeUpdate({ live_texts: [{ name, value }] }));
  }
}
