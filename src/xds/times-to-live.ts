// Resources that stay only as long as the control plane says: each has its time, which a heartbeat or
// another update begins anew.
import { startTimeout } from '../base/timers.js';
import type { RawResource } from './discovery-wire.js';

/** Node fires timers at once that are longer. */
const LONGEST_MS = 2 ** 31 - 1;

export class TimesToLive {
  readonly #onExpired: (names: readonly string[]) => void;
  /** By name: when it is over, of performance.now(). */
  readonly #ends = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #dueMs = Infinity;

  constructor(onExpired: (names: readonly string[]) => void) {
    this.#onExpired = onExpired;
  }

  /** `name`: where the resource itself does not say it. */
  take({ ttlMs, isHeartbeat }: RawResource, name: string): void {
    if (ttlMs !== undefined && (!isHeartbeat || this.#ends.has(name))) {
      const endMs = performance.now() + ttlMs;
      this.#ends.set(name, endMs);
      this.#arm(endMs);
    } else {
      // As the real server: a heartbeat that says none keeps it for ever.
      this.#ends.delete(name);
    }
  }

  /** Whether none has a time. */
  get isEmpty(): boolean {
    return this.#ends.size === 0;
  }

  forget(name: string): void {
    this.#ends.delete(name);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#ends.clear();
    this.#dueMs = Infinity;
  }

  /** For the first end: where that one lasts longer by then, another is looked for. */
  #arm(nextMs: number): void {
    if (nextMs >= this.#dueMs) return;
    this.#dueMs = nextMs;
    clearTimeout(this.#timer);
    const delayMs = Math.min(LONGEST_MS, Math.max(0, nextMs - performance.now()));
    this.#timer = startTimeout(() => this.#expire(), Math.ceil(delayMs)).unref();
  }

  #expire(): void {
    this.#dueMs = Infinity;
    const nowMs = performance.now();
    const over: string[] = [];
    let nextMs = Infinity;
    for (const [name, endMs] of this.#ends) {
      if (endMs <= nowMs) over.push(name);
      else nextMs = Math.min(nextMs, endMs);
    }
    for (const name of over) this.#ends.delete(name);
    if (nextMs < Infinity) this.#arm(nextMs);
    if (over.length > 0) this.#onExpired(over);
  }
}
