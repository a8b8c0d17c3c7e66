// A runtime layer: keys with what /runtime shows of each, and what it means.
import { structDebugText } from '../config/debug-text.js';
import { readSubset } from '../config/formats/yaml/yaml-subset.js';
import { readDocument } from '../config/formats/yaml/yaml-document.js';
import { yamlError } from '../config/formats/yaml/yaml-words.js';
import { numberText } from '../config/values/number-text.js';
import { isObject, type PlainObject } from '../config/values/objects.js';

export interface RuntimeEntry {
  readonly text: string;
  /** A number, a boolean, a text, or a share (`{ numerator, denominator }`). */
  readonly value: unknown;
}

export type RuntimeEntries = ReadonlyMap<string, RuntimeEntry>;

export interface RuntimeLayer {
  readonly name: string;
  readonly entries: RuntimeEntries;
}

/** Texts that yaml-cpp finds nothing in: a quote alone, directives without a document. */
const IS_NOTHING = /^(?:["']|%[^\n]*)$/;

/** Of a text from a file or from the admin interface; or why it is no YAML. */
export function readEntry(text: string): RuntimeEntry | { readonly fault: string } {
  if (IS_NOTHING.test(text)) return { text, value: null };
  const result = readSubset(text) ?? readDocument(text);
  return result.ok ? { text, value: result.value } : { fault: yamlError(text, result.fault) };
}

/** Keys of nested structs are joined by dots. What can be no runtime value is left out. */
export function structEntries(struct: PlainObject): RuntimeEntries {
  const entries = new Map<string, RuntimeEntry>();
  walk(struct, '', (key, value) => {
    if (isRuntimeValue(value)) entries.set(key, { text: textOf(value), value });
  });
  return entries;
}

function walk(
  struct: PlainObject,
  prefix: string,
  visit: (key: string, value: unknown) => void,
): void {
  for (const [name, value] of Object.entries(struct)) {
    const key = prefix === '' ? name : `${prefix}.${name}`;
    if (isObject(value) && !isOneValue(value)) walk(value, key, visit);
    else visit(key, value);
  }
}

/** A share is a value of its own; so is a struct with nothing in it. */
function isOneValue(struct: PlainObject): boolean {
  return 'numerator' in struct || 'denominator' in struct || Object.keys(struct).length === 0;
}

const isRuntimeValue = (value: unknown): boolean => value !== null && !Array.isArray(value);

/** What a number shows: it counts in full. */
const SHOWN_DIGITS = 6;

function textOf(value: unknown): string {
  if (typeof value === 'number') return numberText(value, SHOWN_DIGITS);
  return isObject(value) ? structDebugText(value) : String(value);
}
