// Protobuf's MergeFrom on decoded messages: what `--config-yaml` does to the file it is given with.
import { isObject, setOwn, type PlainObject } from './values/objects.js';
import type { FieldType, MessageType } from './schema/schema.js';
import { isDefault } from './values/scalars.js';
import { fromParts, toParts } from './values/times.js';

/**
 * Adds `from` to `into`, which changes: scalars are replaced, messages merged, lists appended, map
 * entries replaced, members of a oneof replace each other. `from` is shared, not copied.
 */
export function mergeMessage(type: MessageType, into: PlainObject, from: PlainObject): void {
  for (const field of type.fields) {
    const value = from[field.name];
    if (value !== undefined) mergeField(field, into, value);
  }
}

/** Adds one field's value to a message. */
export function mergeField(field: FieldType, into: PlainObject, value: unknown): void {
  const present = into[field.name];
  if (field.oneof) {
    for (const { name } of field.oneof.fields) if (name !== field.name) delete into[name];
  }
  if (field.label === 'many') {
    into[field.name] = [...((present ?? []) as unknown[]), ...(value as unknown[])];
  } else if (field.label === 'map') {
    into[field.name] = mergeEntries(present, value as PlainObject);
  } else if (present === undefined || !field.presence) {
    // A scalar without presence that has its default is as good as absent.
    if (field.presence || !isDefault(field.value, value)) into[field.name] = value;
  } else {
    into[field.name] = mergeValue(field, present, value);
  }
}

function mergeValue(field: FieldType, present: unknown, value: unknown): unknown {
  const type = field.value;
  if (type.kind === 'message' && isObject(present) && isObject(value)) {
    const merged = { ...present };
    mergeMessage(type.type, merged, value);
    return merged;
  }
  if (type.kind === 'duration') return mergeDuration(present as number, value as number);
  if (type.kind === 'struct' || type.kind === 'value') return mergePlain(present, value);
  if (type.kind === 'list') return [...(present as unknown[]), ...(value as unknown[])];
  // A wrapper is a message whose one field has no presence.
  if (type.kind === 'scalar' && type.wrapper) return isDefault(type, value) ? present : value;
  return value;
}

/** Seconds and nanoseconds are two fields: 1.5s and 2s make 2.5s, as in the real server. */
function mergeDuration(present: number, value: number): number {
  const [before, after] = [toParts(present), toParts(value)];
  return fromParts(after.seconds || before.seconds, after.nanos || before.nanos);
}

function mergePlain(present: unknown, value: unknown): unknown {
  if (isObject(present) && isObject(value)) return mergeEntries(present, value);
  if (Array.isArray(present) && Array.isArray(value))
    return [...(present as unknown[]), ...(value as unknown[])];
  return value;
}

function mergeEntries(present: unknown, value: PlainObject): PlainObject {
  const merged: PlainObject = {};
  for (const source of [present, value]) {
    if (isObject(source)) for (const key of Object.keys(source)) setOwn(merged, key, source[key]);
  }
  return merged;
}
