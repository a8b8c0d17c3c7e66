// Decoded messages as the real server compares them where defaults make no difference
// (google::protobuf::util::MessageDifferencer, EQUIVALENT).
import type { FieldType, MessageType, ValueType } from './schema/schema.js';
import type { PlainObject } from './values/objects.js';

/** What a message says beyond defaults: a field that is not there and one that says nothing are the same. */
export function beyondDefaults(type: MessageType, message: PlainObject): PlainObject {
  const said = type.fields.flatMap((field): readonly (readonly [string, unknown])[] => {
    const value = message[field.name];
    const more = value === undefined ? undefined : ofField(field, value);
    return more === undefined ? [] : [[field.name, more]];
  });
  return Object.fromEntries(said);
}

/** Undefined: nothing. */
function ofField({ label, value: type }: FieldType, value: unknown): unknown {
  // Entries count, whatever they say.
  if (label === 'map') return Object.keys(value as PlainObject).length > 0 ? value : undefined;
  if (label === 'one') {
    const said = ofValue(type, value);
    return saysNothing(type, said) ? undefined : said;
  }
  const items = value as readonly unknown[];
  return items.length > 0 ? items.map((item) => ofValue(type, item)) : undefined;
}

const ofValue = (type: ValueType, value: unknown): unknown =>
  type.kind === 'message' ? beyondDefaults(type.type, value as PlainObject) : value;

/** `said`: of a message what it says beyond defaults. */
function saysNothing(type: ValueType, said: unknown): boolean {
  if (type.kind === 'enum') return type.type.numbers.get(String(said)) === 0;
  if (type.kind === 'message') return Object.keys(said as PlainObject).length === 0;
  const isOf = type.kind === 'scalar' || type.kind === 'duration';
  if (isOf) return said === 0 || said === false || said === '';
  return type.kind === 'empty';
}
