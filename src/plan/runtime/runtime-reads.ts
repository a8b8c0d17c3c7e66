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
  #now: RuntimeValues;
  /** Slot 1 first. */
  readonly #live: Read[] = [];
  /** By what is read: routes that come again and again have the slots that they had. */
  readonly #slots = new Map<string, number>();
  /** By key: what was read only now. */
  readonly #once = new Map<string, { readonly read: Read; readonly value: number }>();

  constructor(now: RuntimeValues) {
    this.#now = now;
  }

  /** Read once. */
  number(key: string | undefined, fallback: number): number {
    return this.#readOnce(key, (values) => values.number(key, fallback));
  }

  /** Of what comes later it is read anew. */
  flag(key: string, fallback: boolean): boolean {
    return this.#now.flag(key, fallback);
  }

  /** The same of a number. */
  numberAnew(key: string, fallback: number): number {
    return this.#now.number(key, fallback);
  }

  liveNumber(key: string | undefined, fallback: number): LiveNumber {
    if (!key) return { value: fallback, slot: 0 };
    const what = JSON.stringify([key, fallback]);
    return this.#readLive(what, (values) => values.number(key, fallback));
  }

  /** A number that need not be whole, in millionths. */
  liveDecimalMillionths(key: string | undefined, fallback: number): LiveNumber {
    const millionths = (value: number) => Math.max(0, Math.round(value * 1_000_000));
    if (!key) return { value: millionths(fallback), slot: 0 };
    const what = JSON.stringify(['decimal', key, fallback]);
    return this.#readLive(what, (values) => millionths(values.decimal(key, fallback)));
  }

  /** 1: true. */
  liveFlag(key: string | undefined, fallback: boolean): LiveNumber {
    if (!key) return { value: fallback ? 1 : 0, slot: 0 };
    const what = JSON.stringify(['flag', key, fallback]);
    return this.#readLive(what, (values) => (values.flag(key, fallback) ? 1 : 0));
  }

  /** A share in millionths, at most a million. A plain number counts per hundred. */
  liveMillionths(key: string | undefined, fallback: FractionalPercent | undefined): LiveNumber {
    if (!key) return { value: millionthsOf(fallback ?? {}), slot: 0 };
    const what = JSON.stringify([key, fallback ?? null]);
    return this.#readLive(what, (values) => values.millionths(key, fallback));
  }

  /** The same of a key alone; `unset` where it has no value. */
  liveShareOrUnset(key: string, unset: number): LiveNumber {
    const what = JSON.stringify(['share', key, unset]);
    return this.#readLive(what, (values) => values.millionthsOr(key, unset));
  }

  /** Of all slots with other runtime values, which later reads get as well. */
  slotValues(values: RuntimeValues): readonly number[] {
    this.#now = values;
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

  #readLive(what: string, read: Read): LiveNumber {
    let slot = this.#slots.get(what);
    if (slot === undefined) {
      slot = this.#live.push(read);
      this.#slots.set(what, slot);
    }
    return { value: read(this.#now), slot };
  }
}
