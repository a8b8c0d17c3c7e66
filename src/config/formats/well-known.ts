// The messages of google.protobuf as the binary and the text format spell them, field by field, and
// what they are in JSON, which is what the decoder reads.
import { isObject, setOwn, type PlainObject } from '../values/objects.js';
import { defaultScalar } from '../values/scalars.js';
import type { FieldType, ValueType, WellKnownKind } from '../schema/schema.js';
import type { Scalar } from '../schema/scalar.js';
import type { ValuePlace } from '../issues/value-position.js';

/** What a reader must know of a field. */
export type Field = Pick<
  FieldType,
  'name' | 'number' | 'label' | 'keyType' | 'oneofIndex' | 'value'
>;

/** The fields of a message; those of a MessageType are one. */
export interface Shape {
  readonly name: string;
  readonly fields: readonly Field[];
}

const scalar = (name: Scalar): ValueType => ({ kind: 'scalar', scalar: name, wrapper: false });

const NULL_VALUE = 'null_value';

function one(name: string, number: number, value: ValueType, oneofIndex?: number): Field {
  return { name, number, value, label: 'one', keyType: undefined, oneofIndex };
}

const many = (name: string, value: ValueType): Field => ({
  ...one(name, 1, value),
  label: 'many',
});

const SECONDS_AND_NANOS = [one('seconds', 1, scalar('int64')), one('nanos', 2, scalar('int32'))];

const SHAPES: Readonly<Record<WellKnownKind, Shape>> = {
  any: {
    name: 'google.protobuf.Any',
    fields: [one('type_url', 1, scalar('string')), one('value', 2, scalar('bytes'))],
  },
  duration: { name: 'google.protobuf.Duration', fields: SECONDS_AND_NANOS },
  timestamp: { name: 'google.protobuf.Timestamp', fields: SECONDS_AND_NANOS },
  mask: { name: 'google.protobuf.FieldMask', fields: [many('paths', scalar('string'))] },
  empty: { name: 'google.protobuf.Empty', fields: [] },
  list: { name: 'google.protobuf.ListValue', fields: [many('values', { kind: 'value' })] },
  struct: {
    name: 'google.protobuf.Struct',
    fields: [{ ...one('fields', 1, { kind: 'value' }), label: 'map', keyType: 'string' }],
  },
  value: {
    name: 'google.protobuf.Value',
    fields: [
      // Of the enum NullValue, whose one value is 0.
      one(NULL_VALUE, 1, scalar('int32'), 0),
      one('number_value', 2, scalar('double'), 0),
      one('string_value', 3, scalar('string'), 0),
      one('bool_value', 4, scalar('bool'), 0),
      one('struct_value', 5, { kind: 'struct' }, 0),
      one('list_value', 6, { kind: 'list' }, 0),
    ],
  },
};

/** The message that each entry of a map is. */
export function entryShape(map: Field): Shape {
  const key = scalar(map.keyType ?? 'string');
  return { name: 'an entry of a map', fields: [one('key', 1, key), one('value', 2, map.value)] };
}

/** What stands for a value that is left out of a list or a map. */
export function emptyOf(type: ValueType): unknown {
  if (type.kind === 'enum') return 0;
  if (type.kind !== 'scalar') return plainOf(type, {});
  return type.scalar === 'bytes' ? '' : defaultScalar(type.scalar);
}

/** Undefined where the value is no message. */
export function shapeOf(type: ValueType): Shape | undefined {
  if (type.kind === 'message') return type.type;
  if (type.kind === 'enum') return undefined;
  if (type.kind !== 'scalar') return SHAPES[type.kind];
  if (!type.wrapper) return undefined;
  return { name: 'a wrapper', fields: [one('value', 1, scalar(type.scalar))] };
}

/** A message that was read by its shape, as JSON has it. An Any is left as it is. */
export function plainOf(type: ValueType, message: PlainObject): unknown {
  switch (type.kind) {
    case 'scalar':
      return message['value'] ?? (type.scalar === 'bytes' ? '' : defaultScalar(type.scalar));
    case 'struct':
      return message['fields'] ?? {};
    case 'list':
      return message['values'] ?? [];
    case 'value':
      return NULL_VALUE in message ? null : (Object.values(message)[0] ?? null);
    case 'mask':
      return ((message['paths'] ?? []) as readonly string[]).join(',');
    case 'timestamp':
      return timestampOf(message);
    default:
      return message;
  }
}

/** Where the same value stands: of the entries of a Struct, not of its `fields`. */
export function plainPlaceOf(type: ValueType, place: ValuePlace): ValuePlace {
  const { offset, keyOffset, entries } = place;
  const inner = (name: string) => entries?.get(name);
  switch (type.kind) {
    case 'struct':
      return { offset, keyOffset, entries: inner('fields')?.entries ?? new Map() };
    case 'list':
      return { offset, keyOffset, items: inner('values')?.items ?? [] };
    case 'scalar':
    case 'value':
      return { ...([...(entries?.values() ?? [])][0] ?? { offset }), keyOffset };
    case 'timestamp':
    case 'mask':
      return { offset, keyOffset };
    default:
      return place;
  }
}

/** An Any with its message in it; a type that is no object in JSON stands under `value`. */
export function plainAny(url: string, type: ValueType | undefined, value: unknown): PlainObject {
  const any: PlainObject = { '@type': url };
  if (type && type.kind !== 'message') any['value'] = value;
  else if (isObject(value)) for (const key of Object.keys(value)) setOwn(any, key, value[key]);
  return any;
}

function timestampOf(message: PlainObject): unknown {
  const { seconds = 0, nanos = 0 } = message;
  const date = new Date(Number(seconds) * 1000);
  if (Number.isNaN(date.getTime())) return message;
  const fraction = nanos === 0 ? '' : `.${String(nanos as number).padStart(9, '0')}`;
  return date.toISOString().replace(/\.\d+Z$/, `${fraction}Z`);
}
