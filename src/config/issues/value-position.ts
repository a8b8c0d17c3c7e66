// Where each value of a text stands. Built only when something is wrong, by reading the text again.
import type { FieldPath } from './field-path.js';

/** The place of one value. Offsets are in UTF-16 units. */
export interface ValuePlace {
  /** Of the value's first character. */
  readonly offset: number;
  /** Of the key's, where it is the value of one. */
  readonly keyOffset?: number | undefined;
  /** Of a mapping; later keys of one name replace earlier ones. */
  readonly entries?: ReadonlyMap<string, ValuePlace>;
  /** Of a list. */
  readonly items?: readonly ValuePlace[];
}

export interface FoundPlace {
  readonly offset: number;
  /** Whether all of the path is there; otherwise this is the nearest value above it. */
  readonly isExact: boolean;
}

/**
 * The place of the value at a path of .proto names: of its key where it is a mapping or a list, or
 * where `key` is asked for, else of itself. Keys may be spelt in lowerCamelCase, and a
 * TypedStruct's fields stand under its `value`.
 */
export function findPlace(
  root: ValuePlace,
  path: FieldPath,
  part: 'key' | 'value' = 'value',
): FoundPlace {
  let place = root;
  let isExact = true;
  for (const segment of path) {
    const next = childOf(place, segment);
    if (!next) {
      isExact = false;
      break;
    }
    place = next;
  }
  const isValue = part === 'value' && isExact && !place.entries && !place.items;
  return { offset: (isValue ? undefined : place.keyOffset) ?? place.offset, isExact };
}

/** How many elements the list at a path has; 0 where there is none. */
export function countItems(root: ValuePlace, path: FieldPath): number {
  let place: ValuePlace | undefined = root;
  for (const segment of path) place = place && childOf(place, segment);
  return place?.items?.length ?? 0;
}

function childOf(place: ValuePlace, segment: string | number): ValuePlace | undefined {
  // A single value may stand for a list of one.
  if (typeof segment === 'number')
    return place.items ? place.items[segment] : segment === 0 ? place : undefined;
  const entries = place.entries;
  if (!entries) return undefined;
  const found = entries.get(segment) ?? entries.get(camelCase(segment));
  if (found || segment === 'value' || !entries.has('@type')) return found;
  const inner = entries.get('value');
  return inner?.entries ? childOf(inner, segment) : undefined;
}

const camelCase = (name: string): string =>
  name.replace(/_+(.)/g, (_, letter: string) => letter.toUpperCase());

/** Lines of a text, for turning offsets into lines and columns that count from 1. */
export class LineIndex {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
      this.#starts.push(at + 1);
  }

  position(offset: number): { readonly line: number; readonly column: number } {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (this.#starts[low] ?? 0) + 1 };
  }
}
