// Entries of a service whose cluster is not there. They wait until it is.
import { startInterval } from '../base/timers.js';

/** What waits for a service may be so much; then nothing more is taken of workers. */
export const MOST_WAITING_BYTES = 1024 * 1024;

export class KeptEntries {
  readonly #onWaiting: (bytes: number) => void;
  readonly #retry: () => void;
  readonly #retryMs: number;
  #entries: Buffer[] = [];
  #bytes = 0;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `retry` is called at intervals while some wait. */
  constructor(onWaiting: (bytes: number) => void, retry: () => void, retryMs: number) {
    this.#onWaiting = onWaiting;
    this.#retry = retry;
    this.#retryMs = Math.max(1, retryMs);
  }

  get count(): number {
    return this.#count;
  }

  /** Nothing comes any more that they could wait for. */
  get isFull(): boolean {
    return this.#bytes >= MOST_WAITING_BYTES;
  }

  keep(entries: Buffer, count: number): void {
    this.#entries.push(entries);
    this.#bytes += entries.length;
    this.#count += count;
    this.#onWaiting(entries.length);
    this.#timer ??= startInterval(this.#retry, this.#retryMs).unref();
  }

  /** All of them, which do not wait here any longer. */
  take(): Buffer {
    const all = Buffer.concat(this.#entries);
    this.close();
    return all;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#onWaiting(-this.#bytes);
    this.#entries = [];
    this.#bytes = 0;
    this.#count = 0;
  }
}
