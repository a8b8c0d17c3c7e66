// What happens per second, from counters that are read now and then.
import type { Values } from './admin.js';

export class Rates {
  #values: Values = new Map();
  #atMs = 0;
  #before: Values | undefined;
  #seconds = 0;

  add(values: Values, atMs: number): void {
    this.#before = this.#atMs === 0 ? undefined : this.#values;
    this.#seconds = (atMs - this.#atMs) / 1000;
    this.#values = values;
    this.#atMs = atMs;
  }

  value(name: string): number {
    return this.#values.get(name) ?? 0;
  }

  /** Per second; undefined until two readings are there, or after the counter was reset. */
  rate(name: string): number | undefined {
    if (!this.#before || this.#seconds <= 0) return undefined;
    const change = this.value(name) - (this.#before.get(name) ?? 0);
    return change < 0 ? undefined : change / this.#seconds;
  }

  names(): Iterable<string> {
    return this.#values.keys();
  }
}

/** The sum of what is known; undefined where nothing is. */
export function sum(numbers: Iterable<number | undefined>): number | undefined {
  let total: number | undefined;
  for (const number of numbers) if (number !== undefined) total = (total ?? 0) + number;
  return total;
}
