// Where requests may have clusters asked for that are not there (ODCDS), by numbers that the plan has.
import type { Collected } from './sources.js';

export class ClusterSources {
  readonly #sources: Collected[] = [];
  readonly #numbers = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#sources.length === 0;
  }

  /** Some of them are asked beside ADS. */
  get haveOthersThanAds(): boolean {
    return this.#sources.some(({ source }) => source.kind !== 'ads');
  }

  /** The same number for the same source; more than 0. */
  add(source: Collected): number {
    const key = JSON.stringify(source);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#sources.push(source);
    this.#numbers.set(key, number);
    return number;
  }

  find(number: number): Collected | undefined {
    return this.#sources[number - 1];
  }
}
