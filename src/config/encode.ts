// Decoded messages as binary protobuf, as the real server would write them: fields by number, maps by
// key, nothing that is a default. For what is handed on as it is (google.protobuf.Any).
import { Buffer } from 'node:buffer';
import { schema, type FieldType, type Schema, type ValueType } from './schema/schema.js';
import type { Scalar } from './schema/scalar.js';
import { isObject, type PlainObject } from './values/objects.js';
import { toParts } from './values/times.js';

const VARINT = 0;
const EIGHT_BYTES = 1;
const BYTES = 2;
const FOUR_BYTES = 5;

export interface BinaryAny {
  readonly type_url: string;
  readonly value: Uint8Array;
}

/** An Any as the decoder gives it: with `$type`, and its message's fields or `value` beside that. */
export function encodeAny(any: PlainObject, types: Schema = schema()): BinaryAny {
  const struct = any['$struct'];
  if (isObject(struct)) return encodeAny(struct, types);
  const name = String(any['$type'] as string);
  if (name === '') return { type_url: '', value: new Uint8Array() };
  const type = types.valueTypeOf(name);
  const value = type?.kind === 'message' ? any : any['value'];
  return {
    type_url: `type.googleapis.com/${name}`,
    value: type ? (messageOf(type, value, types) ?? new Uint8Array()) : new Uint8Array(),
  };
}

/** Undefined where the value is no message. */
function messageOf(type: ValueType, value: unknown, types: Schema): Buffer | undefined {
  switch (type.kind) {
    case 'message':
      return Buffer.concat(
        type.type.fields.flatMap((field) =>
          fieldOf(field, (value as PlainObject | undefined)?.[field.name], types),
        ),
      );
    case 'scalar':
      return type.wrapper ? Buffer.concat(scalarField(1, type.scalar, value, false)) : undefined;
    case 'enum':
      return undefined;
    case 'any': {
      const inner = encodeAny((value ?? { $type: '' }) as PlainObject, types);
      return Buffer.concat([
        ...scalarField(1, 'string', inner.type_url, false),
        ...scalarField(2, 'bytes', inner.value, false),
      ]);
    }
    case 'duration':
      return partsOf(toParts(Number(value ?? 0)));
    case 'timestamp':
      return partsOf(timeOf(String((value as string | undefined) ?? '1970-01-01T00:00:00Z')));
    case 'mask':
      return Buffer.concat(
        String((value as string | undefined) ?? '')
          .split(',')
          .flatMap((path) => scalarField(1, 'string', path, false)),
      );
    case 'empty':
      return Buffer.alloc(0);
    case 'struct':
      return structOf((value ?? {}) as PlainObject);
    case 'list':
      return listOf((value ?? []) as readonly unknown[]);
    case 'value':
      return valueOf(value);
  }
}

function fieldOf(field: FieldType, value: unknown, types: Schema): Buffer[] {
  if (value === undefined) return [];
  const { number, value: type } = field;
  if (field.label === 'map') {
    const key = field.keyType ?? 'string';
    return Object.entries(value as PlainObject)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => {
        const entry = [
          ...scalarField(1, key, key === 'string' ? name : Number(name), true),
          ...oneOf(2, type, each, types, true),
        ];
        return delimited(number, Buffer.concat(entry));
      });
  }
  if (field.label === 'one') return oneOf(number, type, value, types, field.presence);
  const items = value as readonly unknown[];
  const isPacked =
    (type.kind === 'scalar' && !isText(type) && !type.wrapper) || type.kind === 'enum';
  if (!isPacked) return items.flatMap((item) => oneOf(number, type, item, types, true));
  if (items.length === 0) return [];
  const packed = items.map((item) =>
    type.kind === 'enum' ? enumOf(type, item) : plain(type, item),
  );
  return [delimited(number, Buffer.concat(packed))];
}

const isText = ({ scalar }: { readonly scalar: Scalar }): boolean =>
  scalar === 'string' || scalar === 'bytes';

/** `always`: also where it is the default. */
function oneOf(
  number: number,
  type: ValueType,
  value: unknown,
  types: Schema,
  always: boolean,
): Buffer[] {
  if (type.kind === 'enum') {
    const bytes = enumOf(type, value);
    return always || !bytes.equals(varint(0n)) ? [tag(number, VARINT), bytes] : [];
  }
  if (type.kind === 'scalar' && !type.wrapper) {
    return scalarField(number, type.scalar, value, always);
  }
  return [delimited(number, messageOf(type, value, types) ?? Buffer.alloc(0))];
}

function scalarField(number: number, scalar: Scalar, value: unknown, always: boolean): Buffer[] {
  if (isText({ scalar })) {
    const bytes =
      scalar === 'bytes'
        ? Buffer.from((value as Uint8Array | undefined) ?? [])
        : Buffer.from(String((value as string | undefined) ?? ''));
    return always || bytes.length > 0 ? [delimited(number, bytes)] : [];
  }
  const isDefault = value === undefined || value === 0 || value === false || value === 0n;
  if (isDefault && !always) return [];
  return [tag(number, wireTypeOf(scalar)), plain({ scalar }, value ?? 0)];
}

function wireTypeOf(scalar: Scalar): number {
  if (scalar === 'double' || scalar === 'fixed64' || scalar === 'sfixed64') return EIGHT_BYTES;
  return scalar === 'float' || scalar === 'fixed32' || scalar === 'sfixed32' ? FOUR_BYTES : VARINT;
}

function plain({ scalar }: { readonly scalar: Scalar }, value: unknown): Buffer {
  const bytes = Buffer.alloc(8);
  const number = Number(value);
  switch (scalar) {
    case 'double':
      bytes.writeDoubleLE(number);
      return bytes;
    case 'float':
      bytes.writeFloatLE(number);
      return bytes.subarray(0, 4);
    case 'fixed32':
      bytes.writeUInt32LE(number);
      return bytes.subarray(0, 4);
    case 'sfixed32':
      bytes.writeInt32LE(number);
      return bytes.subarray(0, 4);
    case 'fixed64':
    case 'sfixed64':
      bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value as number)));
      return bytes;
    case 'sint32':
    case 'sint64': {
      const signed = BigInt(value as number);
      return varint(signed < 0n ? -2n * signed - 1n : 2n * signed);
    }
    default:
      return varint(BigInt.asUintN(64, BigInt(value as number)));
  }
}

function enumOf(type: ValueType & { readonly kind: 'enum' }, value: unknown): Buffer {
  const number =
    typeof value === 'number' ? value : (type.type.numbers.get(String(value as string)) ?? 0);
  return varint(BigInt.asUintN(64, BigInt(number)));
}

// ---- google.protobuf.Struct and its parts ----

function structOf(struct: PlainObject): Buffer {
  const entries = Object.entries(struct).sort(([a], [b]) => (a < b ? -1 : 1));
  return Buffer.concat(
    entries.map(([key, value]) =>
      delimited(1, Buffer.concat([...text(1, key), delimited(2, valueOf(value))])),
    ),
  );
}

const listOf = (items: readonly unknown[]): Buffer =>
  Buffer.concat(items.map((item) => delimited(1, valueOf(item))));

function valueOf(value: unknown): Buffer {
  if (typeof value === 'number') return Buffer.concat(scalarField(2, 'double', value, true));
  if (typeof value === 'string') return Buffer.concat(text(3, value));
  if (typeof value === 'boolean') return Buffer.concat(scalarField(4, 'bool', value, true));
  if (Array.isArray(value)) return delimited(6, listOf(value));
  if (isObject(value)) return delimited(5, structOf(value));
  return Buffer.concat(scalarField(1, 'int32', 0, true));
}

const text = (number: number, value: string): Buffer[] =>
  scalarField(number, 'string', value, true);

// ---- times ----

function partsOf({ seconds, nanos }: { readonly seconds: number; readonly nanos: number }): Buffer {
  return Buffer.concat([
    ...scalarField(1, 'int64', seconds, false),
    ...scalarField(2, 'int32', nanos, false),
  ]);
}

function timeOf(time: string): { readonly seconds: number; readonly nanos: number } {
  const fraction = /\.(\d{1,9})/.exec(time)?.[1] ?? '';
  const seconds = Math.floor(Date.parse(time.replace(/\.\d+/, '')) / 1000);
  return { seconds, nanos: Number(fraction.padEnd(9, '0')) };
}

// ---- bytes ----

const tag = (number: number, wire: number): Buffer => varint(BigInt(number * 8 + wire));

const delimited = (number: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([tag(number, BYTES), varint(BigInt(bytes.length)), bytes]);

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = value;
  while (left > 0x7fn) {
    bytes.push(Number(left & 0x7fn) | 0x80);
    left >>= 7n;
  }
  bytes.push(Number(left));
  return Buffer.from(bytes);
}
