// Metadata that a configuration knows as a whole, as formats find it: every value by its path.
import type { Any } from '../../../build/messages.gen.js';
import { encodeAny } from '../../config/encode.js';
import type { Metadata, MetadataSpace, MetadataValue, TypedMetadata } from '../plan.gen.js';

interface ConfiguredMetadata {
  readonly filter_metadata?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly typed_filter_metadata?: Readonly<Record<string, Any>>;
}

/** Between the keys of a path. */
export const PATH_SEPARATOR = '\0';

/** `struct` itself comes first, by the empty path; of an empty one there is nothing. */
export function metadataValues(struct: Readonly<Record<string, unknown>>): MetadataValue[] {
  return Object.keys(struct).length === 0 ? [] : valuesAt(struct, []);
}

/** All that is said of one thing. */
export function allSpaces(metadata: ConfiguredMetadata | undefined): MetadataSpace[] {
  return Object.entries(metadata?.filter_metadata ?? {}).map(([name, struct]) => ({
    name,
    values: metadataValues(struct),
  }));
}

/** The same as the member of a plan that says it, where there is any. */
export function metadataOf(metadata: ConfiguredMetadata | undefined): { metadata?: Metadata } {
  const spaces = allSpaces(metadata);
  const typed = typedOf(metadata);
  if (spaces.length + typed.length === 0) return {};
  return { metadata: { spaces, ...(typed.length > 0 && { typed }) } };
}

function typedOf(metadata: ConfiguredMetadata | undefined): TypedMetadata[] {
  return Object.entries(metadata?.typed_filter_metadata ?? {}).map(([name, any]) => ({
    name,
    ...encodeAny(any),
  }));
}

function valuesAt(value: unknown, path: readonly string[]): MetadataValue[] {
  const own =
    typeof value === 'string'
      ? { text: value, is_json: false }
      : { text: sortedJson(value), is_json: true };
  const inner = isObject(value)
    ? Object.entries(value).flatMap(([key, each]) => valuesAt(each, [...path, key]))
    : [];
  return [{ path: path.join(PATH_SEPARATOR), ...own }, ...inner];
}

/** With members in the order of their names, as the real server has it. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
