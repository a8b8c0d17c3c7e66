// A message in protobuf's binary format, from what JSON has.
import { isObject, type PlainObject } from '../../../src/config/values/objects.js';
import { parseDuration, toParts } from '../../../src/config/values/times.js';
import { entryShape, shapeOf, type Field } from '../../../src/config/formats/well-known.js';
import type { Scalar } from '../../../src/config/schema/scalar.js';
import type { Schema, ValueType } from '../../../src/config/schema/schema.js';

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

export function binaryOf(schema: Schema, name: string, value: PlainObject): Buffer {
  return message(schema, { kind: 'message', type: schema.getMessage(name) }, value);
}

function message(schema: Schema, type: ValueType, plain: unknown): Buffer {
  const value = asFields(schema, type, plain);
  const fields = shapeOf(type)?.fields ?? [];
  return Buffer.concat(
    fields.flatMap((field) => {
      const own = value[field.name];
      return own === undefined ? [] : fieldParts(schema, field, own);
    }),
  );
}

function fieldParts(schema: Schema, field: Field, value: unknown): Buffer[] {
  const part = (item: unknown): Buffer => {
    const [wire, bytes] = encode(schema, field.value, item);
    return Buffer.concat([varint(field.number * 8 + wire), bytes]);
  };
  if (field.label === 'many') return (value as unknown[]).map(part);
  if (field.label === 'one') return [part(value)];
  const [keyField, valueField] = entryShape(field).fields;
  return Object.entries(value as PlainObject).map(([key, item]) => {
    const entry = [
      ...fieldParts(schema, keyField as Field, key),
      ...fieldParts(schema, valueField as Field, item),
    ];
    return Buffer.concat([varint(field.number * 8 + BYTES), withLength(Buffer.concat(entry))]);
  });
}

function encode(schema: Schema, type: ValueType, value: unknown): readonly [number, Buffer] {
  if (shapeOf(type)) return [BYTES, withLength(message(schema, type, value))];
  if (type.kind === 'enum') return [VARINT, varint(type.type.numbers.get(value as string) ?? 0)];
  return scalar((type as { readonly scalar: Scalar }).scalar, value);
}

function scalar(kind: Scalar, value: unknown): readonly [number, Buffer] {
  const bytes = Buffer.alloc(kind === 'double' ? 8 : 4);
  switch (kind) {
    case 'string':
      return [BYTES, withLength(Buffer.from(value as string))];
    case 'bytes':
      return [BYTES, withLength(Buffer.from(value as string, 'base64'))];
    case 'double':
      bytes.writeDoubleLE(Number(value));
      return [FIXED64, bytes];
    case 'float':
      bytes.writeFloatLE(Number(value));
      return [FIXED32, bytes];
    default:
      return [VARINT, varint(Number(value))];
  }
}

/** The fields of the messages of google.protobuf that JSON has other words for. */
function asFields(schema: Schema, type: ValueType, value: unknown): PlainObject {
  switch (type.kind) {
    case 'scalar':
      return { value };
    case 'duration':
      return toParts(parseDuration(value as string) ?? 0);
    case 'struct':
      return { fields: value };
    case 'list':
      return { values: value };
    case 'value':
      return asValue(value);
    case 'any':
      return asAny(schema, value as PlainObject);
    default:
      return value as PlainObject;
  }
}

function asValue(value: unknown): PlainObject {
  if (value === null) return { null_value: 0 };
  if (Array.isArray(value)) return { list_value: value };
  if (isObject(value)) return { struct_value: value };
  return { [`${typeof value === 'boolean' ? 'bool' : typeof value}_value`]: value };
}

function asAny(schema: Schema, { '@type': url, ...fields }: PlainObject): PlainObject {
  const name = (url as string).slice((url as string).lastIndexOf('/') + 1);
  return { type_url: url, value: binaryOf(schema, name, fields).toString('base64') };
}

const withLength = (bytes: Buffer): Buffer => Buffer.concat([varint(bytes.length), bytes]);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    if (rest < 0x80n) return Buffer.from([...bytes, low]);
    bytes.push(low | 0x80);
  }
}
