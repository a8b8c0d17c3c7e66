// Field masks into the well-known types: decoded, they are the values that they stand for, but masks
// name the fields that their messages have ("stats_flush_interval.seconds").
import type { PlainObject } from '../../config/values/objects.js';
import type { ValueType } from '../../config/schema/schema.js';
import { fromParts, toParts } from '../../config/values/times.js';

const EPOCH = '1970-01-01T00:00:00';
const FIELDS: Readonly<Partial<Record<ValueType['kind'], readonly string[]>>> = {
  duration: ['seconds', 'nanos'],
  timestamp: ['seconds', 'nanos'],
  any: ['type_url', 'value'],
  struct: ['fields'],
  list: ['values'],
  mask: ['paths'],
};

/** None where it is no message. */
export function fieldsOfWellKnown(type: ValueType): readonly string[] {
  return type.kind === 'scalar' && type.wrapper ? ['value'] : (FIELDS[type.kind] ?? []);
}

export function isMessage(type: ValueType): boolean {
  return type.kind === 'message' || type.kind === 'empty' || fieldsOfWellKnown(type).length > 0;
}

/** What is left of a decoded value: those with a single field stay as they are. */
export function trimWellKnown(
  type: ValueType,
  value: unknown,
  fields: { has(name: string): boolean },
): unknown {
  switch (type.kind) {
    case 'duration':
      return trimDuration(value as number, fields);
    case 'timestamp':
      return trimTimestamp(value as string, fields);
    case 'any':
      return trimAny(value as PlainObject, fields);
    default:
      return value;
  }
}

function trimDuration(ms: number, fields: { has(name: string): boolean }): number {
  const { seconds, nanos } = toParts(ms);
  return fromParts(fields.has('seconds') ? seconds : 0, fields.has('nanos') ? nanos : 0);
}

function trimTimestamp(text: string, fields: { has(name: string): boolean }): string {
  const [, seconds = '', nanos = '', zone = ''] = /^(.{19})(\.\d+)?(.*)$/.exec(text) ?? [];
  const kept = fields.has('seconds') ? seconds : EPOCH;
  return kept + (fields.has('nanos') ? nanos : '') + zone;
}

/** Its type goes with what says so; an Any of no type is printed as an empty one. */
function trimAny(any: PlainObject, fields: { has(name: string): boolean }): PlainObject {
  const { $type, ...content } = any;
  return { $type: fields.has('type_url') ? $type : '', ...(fields.has('value') && content) };
}
