// What compiling reads of the runtime: numbers that the data plane follows from then on, and numbers
// that are read once.
import { millionthsOf, type FractionalPercent, type RuntimeValues } from './runtime.js';

/** A number of a plan. */
export interface LiveNumber {
  /** Now. */
  readonly value: number;
  /** Where later values come; 0: nowhere, there is no key. */
  readonly slot: number;
}

type Read = (values: RuntimeValues) => number;

export class RuntimeReads {
  readonly #now: RuntimeValues;
  /** Slot 1 first. */
  readonly #live: Read[] = [];
  /** By key: what was read only now. */
  readonly #once = new Map<string, { readonly read: Read; readonly value: number }>();

  constructor(now: RuntimeValues) {
    this.#now = now;
  }

  /** Read once. */
  number(key: string | undefined, fallback: number): number {
    return this.#readOnce(key, (values) => values.number(key, fallback));
  }

  liveNumber(key: string | undefined, fallback: number): LiveNumber {
    if (!key) return { value: fallback, slot: 0 };
    return this.#readLive((values) => values.number(key, fallback));
  }

  /** A share in millionths, at most a million. A plain number counts per hundred. */
  liveMillionths(key: string | undefined, fallback: FractionalPercent | undefined): LiveNumber {
    if (!key) return { value: millionthsOf(fallback ?? {}), slot: 0 };
    return this.#readLive((values) => values.millionths(key, fallback));
  }

  /** The same of a key alone; `unset` where it has no value. */
  liveShareOrUnset(key: string, unset: number): LiveNumber {
    return this.#readLive((values) => values.millionthsOr(key, unset));
  }

  /** All keys that have a value now. */
  keys(): Iterable<string> {
    return this.#now.keys();
  }

  /** Of all slots with other runtime values. */
  slotValues(values: RuntimeValues): readonly number[] {
    return this.#live.map((read) => read(values));
  }

  /** The keys whose new values have no effect, because they were read once. */
  missedKeys(values: RuntimeValues): readonly string[] {
    const missed = [...this.#once].filter(([, { read, value }]) => read(values) !== value);
    return missed.map(([key]) => key);
  }

  #readOnce(key: string | undefined, read: Read): number {
    const value = read(this.#now);
    if (key) this.#once.set(key, { read, value });
    return value;
  }

  #readLive(read: Read): LiveNumber {
    this.#live.push(read);
    return { value: read(this.#now), slot: this.#live.length };
  }
}
