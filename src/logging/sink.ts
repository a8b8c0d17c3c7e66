// Where log lines go: stderr, or a file that can be opened anew after a rotation.
import { closeSync, openSync, writeSync } from 'node:fs';

const STDERR = 2;

export class LogSink {
  readonly #path: string | undefined;
  #fd: number;

  /** Throws when the file cannot be opened. Without a path: stderr. */
  constructor(path?: string) {
    this.#path = path;
    this.#fd = path === undefined ? STDERR : openForAppending(path);
  }

  get isStderr(): boolean {
    return this.#path === undefined;
  }

  /** What cannot be written is lost: a full disk or a closed pipe must not end the proxy. */
  write(text: string): void {
    const bytes = Buffer.from(text);
    try {
      for (let sent = 0; sent < bytes.length;) sent += writeSync(this.#fd, bytes, sent);
    } catch {
      // Nobody is left to tell.
    }
  }

  /** When the path cannot be opened any more, the file that is open stays in use. Says why. */
  reopen(): string | undefined {
    if (this.#path === undefined) return undefined;
    const before = this.#fd;
    try {
      this.#fd = openForAppending(this.#path);
    } catch (error) {
      return `cannot open log file '${this.#path}' again: ${(error as Error).message}`;
    }
    closeSync(before);
    return undefined;
  }

  close(): void {
    if (this.#path !== undefined) closeSync(this.#fd);
  }
}

function openForAppending(path: string): number {
  return openSync(path, 'a', 0o644);
}
