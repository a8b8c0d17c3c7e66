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
      this.#ends.set(name, performance.now() + ttlMs);
      this.#arm();
    } else if (!isHeartbeat) {
      this.#ends.delete(name);
    }
  }

  forget(name: string): void {
    this.#ends.delete(name);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#ends.clear();
    this.#dueMs = Infinity;
  }

  #arm(): void {
    const next = Math.min(...this.#ends.values());
    if (next >= this.#dueMs || next === Infinity) return;
    this.#dueMs = next;
    clearTimeout(this.#timer);
    const delayMs = Math.min(LONGEST_MS, Math.max(0, next - performance.now()));
    this.#timer = startTimeout(() => this.#expire(), Math.ceil(delayMs)).unref();
  }

  #expire(): void {
    this.#dueMs = Infinity;
    const nowMs = performance.now();
    const over = [...this.#ends].flatMap(([name, endMs]) => (endMs <= nowMs ? name : []));
    for (const name of over) this.#ends.delete(name);
    if (over.length > 0) this.#onExpired(over);
    this.#arm();
  }
}
