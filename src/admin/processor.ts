import { openSync, readSync } from 'node:fs';

/** A wait shorter than this is a switch to something that ended at once. */
const WAIT_NS = 100_000;

/** Whether others want the processor that the control thread runs on: most likely workers. */
export class Processor {
  readonly #file: number | undefined;
  readonly #buffer = Buffer.alloc(128);
  #waitedNs = 0;

  constructor() {
    try {
      // Of the main thread: nanoseconds that it ran, and that it waited for a processor.
      this.#file = openSync('/proc/self/schedstat', 'r');
    } catch {
      // This kernel does not count.
    }
  }

  /** Whether the thread had to wait since the last call; also where that is not known. */
  isShared(): boolean {
    if (this.#file === undefined) return true;
    const length = readSync(this.#file, this.#buffer, 0, this.#buffer.length, 0);
    const waitedNs = Number(this.#buffer.toString('latin1', 0, length).split(' ')[1]);
    const isShared = waitedNs - this.#waitedNs >= WAIT_NS;
    this.#waitedNs = waitedNs;
    return isShared;
  }
}
