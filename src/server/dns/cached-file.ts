// A small file of the system that is read again when it changes.
import { readFile, stat } from 'node:fs/promises';

export class CachedFile<T> {
  readonly #path: string;
  readonly #parse: (text: string) => T;
  #mark = '';
  #value: T;

  /** `parse('')` is what a file that cannot be read counts as. */
  constructor(path: string, parse: (text: string) => T) {
    this.#path = path;
    this.#parse = parse;
    this.#value = parse('');
  }

  async read(): Promise<T> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#path);
      const mark = `${mtimeMs} ${size} ${ino}`;
      if (mark !== this.#mark) {
        this.#value = this.#parse(await readFile(this.#path, 'utf8'));
        this.#mark = mark;
      }
    } catch {
      // What was known before still counts.
    }
    return this.#value;
  }
}
