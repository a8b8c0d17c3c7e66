// Runtime values that a compile function asks for: the static layers of the bootstrap, or a later
// snapshot of all layers (then what depends on it is compiled anew).

import { DENOMINATORS } from '../message/numbers.js';

const MOST = 2 ** 64;

/** A share that a runtime key may hold instead of a plain number. */
export interface FractionalPercent {
  readonly numerator?: number | undefined;
  readonly denominator?: 'HUNDRED' | 'TEN_THOUSAND' | 'MILLION' | undefined;
}

const MILLION = 1_000_000;

export class RuntimeValues {
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(values: ReadonlyMap<string, unknown> = new Map()) {
    this.#values = values;
  }

  /** The layers in their order: a later one wins. Nested keys are joined by dots. */
  static fromLayers(
    layers: readonly (Readonly<Record<string, unknown>> | undefined)[],
  ): RuntimeValues {
    const values = new Map<string, unknown>();
    for (const layer of layers) if (layer) flatten(layer, '', values);
    return new RuntimeValues(values);
  }

  /** As the real server: without what follows the point, of what fits into 64 bits. */
  number(key: string | undefined, fallback: number): number {
    const value = key === undefined ? undefined : this.#values.get(key);
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number !== 'number' || !(number >= 0 && number <= MOST)) return fallback;
    return Math.trunc(number);
  }

  /** What is neither true nor false counts as false where it is 0. */
  flag(key: string, fallback: boolean): boolean {
    const value = this.#values.get(key);
    if (value === true || value === 'true') return true;
    if (value === false || value === 'false') return false;
    return this.number(key, fallback ? 1 : 0) !== 0;
  }

  /** Not below zero; it need not be whole. */
  decimal(key: string, fallback: number): number {
    const value = this.#values.get(key);
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof number === 'number' && number >= 0 ? number : fallback;
  }

  /** A share in millionths, at most a million. A plain number counts per hundred. */
  millionths(key: string | undefined, fallback: FractionalPercent | undefined): number {
    return this.millionthsOr(key, millionthsOf(fallback ?? {}));
  }

  /** The same with a fallback in millionths. */
  millionthsOr(key: string | undefined, fallback: number): number {
    const value = key === undefined ? undefined : this.#values.get(key);
    if (isFraction(value)) return millionthsOf(value);
    const percent = this.number(key, -1);
    return percent >= 0 ? millionthsOf({ numerator: percent }) : fallback;
  }
}

/** A share in millionths, at most a million. */
export function millionthsOf(share: FractionalPercent): number {
  const denominator = DENOMINATORS[share.denominator ?? 'HUNDRED'];
  return Math.min(MILLION, Math.round((share.numerator ?? 0) * (MILLION / denominator)));
}

function isFraction(value: unknown): value is FractionalPercent {
  return (
    typeof value === 'object' && value !== null && ('numerator' in value || 'denominator' in value)
  );
}

function flatten(
  layer: Readonly<Record<string, unknown>>,
  prefix: string,
  into: Map<string, unknown>,
): void {
  for (const [name, value] of Object.entries(layer)) {
    const key = prefix === '' ? name : `${prefix}.${name}`;
    if (
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      !isFraction(value)
    ) {
      flatten(value as Readonly<Record<string, unknown>>, key, into);
    } else {
      into.set(key, value);
    }
  }
}
