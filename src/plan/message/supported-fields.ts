// Which fields of a message a compile function understands. A field outside of them is refused by
// its name as soon as it asks for anything: no option is ever read and then forgotten.
import type { Place } from './place.js';

export interface SupportedFields {
  /** The message's full name, for the person who reads the refusal. */
  readonly type: string;
  readonly used: ReadonlySet<string>;
  /** Values of other fields that ask for nothing: explicit defaults, as text. */
  readonly defaults: ReadonlyMap<string, string>;
}

/**
 * Declares the fields that a compile function reads, and the values of others that mean the same as
 * leaving them out (false, 0, "" and [] always do, so a BoolValue that is not false by default must
 * be among `used`).
 */
export function supportedFields<T extends object>(
  type: string,
  used: readonly (keyof T & string)[],
  defaults: Partial<T> = {},
): SupportedFields {
  const texts = Object.entries(defaults).map(
    ([name, value]) => [name, JSON.stringify(value)] as const,
  );
  // $struct: how a message was written that came as a TypedStruct.
  return { type, used: new Set([...used, '$type', '$struct']), defaults: new Map(texts) };
}

/** An error for each field of `message` that is set and not supported. */
export function refuseOtherFields(place: Place, message: object, supported: SupportedFields): void {
  for (const [name, value] of Object.entries(message)) {
    if (supported.used.has(name) || asksForNothing(value)) continue;
    if (supported.defaults.get(name) === JSON.stringify(value)) continue;
    refuseField(place, name, value, supported);
  }
}

/** The same of one field, whatever its value asks for. */
export function refuseField(
  place: Place,
  name: string,
  value: unknown,
  supported: SupportedFields,
): void {
  const { extension = supported.type } = place;
  const by = extension === supported.type ? '' : ` by ${extension}`;
  place
    .field(name)
    .error(`${name} of ${supported.type} is not supported yet${by}${typesIn(value)}`);
}

/** A word on each of these fields that is set: the real server takes them, and does nothing with them. */
export function tellHidden<T extends object>(
  place: Place,
  message: T,
  names: readonly (keyof T & string)[],
): void {
  for (const name of names) {
    if (!asksForNothing(message[name])) place.field(name).warn(`${name} has no effect`);
  }
}

function asksForNothing(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === false ||
    value === 0 ||
    value === '' ||
    (Array.isArray(value) && value.length === 0)
  );
}

/** The extensions that a refused field would have used: " (envoy.…)". */
export function typesIn(value: unknown): string {
  const types = new Set<string>();
  const visit = (item: unknown): void => {
    if (typeof item !== 'object' || item === null || ArrayBuffer.isView(item)) return;
    if ('$type' in item && typeof item.$type === 'string') types.add(item.$type);
    for (const inner of Object.values(item)) visit(inner);
  };
  visit(value);
  return types.size > 0 ? ` (${[...types].join(', ')})` : '';
}
