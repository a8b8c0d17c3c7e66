// Protobuf's binary format, read by the fields that the schema has.
import { setOwn, type PlainObject } from '../values/objects.js';
import { defaultScalar } from '../values/scalars.js';
import { schema, type Schema, type ValueType } from '../schema/schema.js';
import type { Scalar } from '../schema/scalar.js';
import { removedField, typeOfEra } from './v2-fields.js';
import type { Format, ValueFault } from './format.js';
import {
  emptyOf,
  entryShape,
  plainAny,
  plainOf,
  shapeOf,
  type Field,
  type Shape,
} from './well-known.js';

const BOOTSTRAP = 'envoy.config.bootstrap.v3.Bootstrap';
// As deep as protobuf's own reader goes.
const DEEPEST = 100;

export const pbFormat: Format = {
  name: 'binary protobuf',
  encoding: 'bytes',
  read(text) {
    const reading = new Reading(schema());
    const value = reading.message(schema().getMessage(BOOTSTRAP), Buffer.from(text, 'latin1'));
    // Envoy uses what came before, and says nothing.
    return { ok: true, value, faults: reading.faultsAs('warning') };
  },
  places: () => undefined,
};

/** An Any of a type URL and base64, as JSON has it; paths of faults begin at the Any. */
export function readBinaryAny(
  types: Schema,
  any: PlainObject,
): { readonly any: PlainObject; readonly faults: readonly ValueFault[] } {
  const reading = new Reading(types);
  return { any: reading.any(any, 0), faults: reading.faultsAs('error') };
}

class WireFault extends Error {
  constructor(
    what: string,
    readonly offset: number,
  ) {
    super(`is no binary protobuf: ${what} at byte ${offset}`);
  }
}

/** One message with all that is in it. Where its bytes go wrong it ends, as do those around it. */
class Reading {
  readonly schema: Schema;
  readonly path: (string | number)[] = [];
  readonly #errors: ValueFault[] = [];
  #fault: ValueFault | undefined;

  constructor(types: Schema) {
    this.schema = types;
  }

  get isOver(): boolean {
    return this.#fault !== undefined;
  }

  faultsAs(severity: 'error' | 'warning'): ValueFault[] {
    if (!this.#fault) return this.#errors;
    return [...this.#errors, { ...this.#fault, ...(severity === 'warning' && { severity }) }];
  }

  message(shape: Shape, bytes: Buffer, depth = 0): PlainObject {
    const message: PlainObject = {};
    const level = this.path.length;
    try {
      new WireReader(this, bytes, depth).read(shape, message);
    } catch (error) {
      if (!(error instanceof WireFault)) throw error;
      this.#fault ??= { message: error.message, offset: error.offset, path: [...this.path] };
      this.path.length = level;
    }
    return message;
  }

  value(type: ValueType, bytes: Buffer, depth: number): unknown {
    const shape = shapeOf(type);
    if (!shape) return undefined;
    const message = this.message(shape, bytes, depth);
    return type.kind === 'any' ? this.any(message, depth) : plainOf(type, message);
  }

  /** Envoy reads what an Any holds later, when it is an error that it cannot be read. */
  any(message: PlainObject, depth: number): PlainObject {
    const url = message['type_url'];
    if (url === undefined) return {};
    const type = typeOfEra(this.schema, url as string);
    if (!type || !shapeOf(type)) return { '@type': url };
    const inner = new Reading(this.schema);
    inner.path.push(...this.path);
    const bytes = Buffer.from((message['value'] ?? '') as string, 'base64');
    const value = inner.value(type, bytes, depth + 1);
    this.#errors.push(...inner.faultsAs('error'));
    return plainAny(url as string, type, value);
  }
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const START_GROUP = 3;
const END_GROUP = 4;
const FIXED32 = 5;

/** Reads the bytes of one message. */
class WireReader {
  readonly #reading: Reading;
  readonly #bytes: Buffer;
  readonly #depth: number;
  #at = 0;

  constructor(reading: Reading, bytes: Buffer, depth: number) {
    if (depth > DEEPEST) throw new WireFault(`nested more than ${DEEPEST} messages deep`, 0);
    this.#reading = reading;
    this.#bytes = bytes;
    this.#depth = depth;
  }

  read(shape: Shape, message: PlainObject): void {
    const fields = byNumber(shape);
    while (this.#at < this.#bytes.length && !this.#reading.isOver) {
      const { number, wire } = this.#tag();
      const field = fields.get(number) ?? removedField(this.#reading.schema, shape.name, number);
      if (field && this.#fits(field, wire)) {
        this.#reading.path.push(field.name);
        this.#field(message, shape, field, wire);
        this.#reading.path.pop();
      } else this.#strange(message, number, wire);
    }
  }

  #tag(): { readonly number: number; readonly wire: number } {
    const tag = Number(this.#varint());
    const number = Math.floor(tag / 8);
    if (number === 0 || tag > 0xffffffff) this.#fail('no field has this number');
    return { number, wire: tag % 8 };
  }

  #fits(field: Field, wire: number): boolean {
    const expected = wireOf(field.label === 'map' ? undefined : field.value);
    return wire === expected || (wire === BYTES && field.label === 'many');
  }

  #field(message: PlainObject, shape: Shape, field: Field, wire: number): void {
    if (field.label === 'map') return this.#mapEntry(message, field);
    if (field.label === 'many') return this.#items(message, field, wire);
    const type = shapeOf(field.value);
    if (field.oneofIndex !== undefined) {
      for (const { name, oneofIndex } of shape.fields)
        if (oneofIndex === field.oneofIndex && name !== field.name) delete message[name];
    }
    // A message that comes in parts is their merger, which the bytes in a row are, too.
    if (!type) message[field.name] = this.#single(field.value);
    else this.#part(message, field, this.#chunk());
    return undefined;
  }

  readonly #parts = new Map<string, Buffer>();

  #part(message: PlainObject, field: Field, bytes: Buffer): void {
    const before = field.name in message ? this.#parts.get(field.name) : undefined;
    const whole = before ? Buffer.concat([before, bytes]) : bytes;
    this.#parts.set(field.name, whole);
    message[field.name] = this.#inner(field.value, whole);
  }

  #items(message: PlainObject, field: Field, wire: number): void {
    const items = (message[field.name] ??= []) as unknown[];
    if (wire !== BYTES || wireOf(field.value) === BYTES) {
      this.#reading.path.push(items.length);
      items.push(this.#element(field.value));
      this.#reading.path.pop();
      return;
    }
    const packed = new WireReader(this.#reading, this.#chunk(), this.#depth);
    while (packed.#at < packed.#bytes.length) items.push(packed.#single(field.value));
  }

  #mapEntry(message: PlainObject, field: Field): void {
    const shape = entryShape(field);
    const entry = this.#reading.message(shape, this.#chunk(), this.#depth);
    const map = (message[field.name] ??= {}) as PlainObject;
    const name = entry['key'] ?? defaultScalar(field.keyType ?? 'string');
    setOwn(map, String(name as string), 'value' in entry ? entry['value'] : emptyOf(field.value));
  }

  #element(type: ValueType): unknown {
    return shapeOf(type) ? this.#inner(type, this.#chunk()) : this.#single(type);
  }

  #inner(type: ValueType, bytes: Buffer): unknown {
    return this.#reading.value(type, bytes, this.#depth + 1);
  }

  #single(type: ValueType): unknown {
    if (type.kind !== 'scalar') {
      const number = Number(BigInt.asIntN(32, this.#varint()));
      return (type.kind === 'enum' && type.type.names.get(number)) || number;
    }
    return this.#scalar(type.scalar);
  }

  #scalar(scalar: Scalar): unknown {
    switch (scalar) {
      case 'string':
        return this.#text();
      case 'bytes':
        return this.#chunk().toString('base64');
      case 'bool':
        return this.#varint() !== 0n;
      case 'double':
        return finiteOrText(this.#take(8).readDoubleLE());
      case 'float':
        return finiteOrText(shortest(this.#take(4).readFloatLE()));
      case 'fixed32':
        return this.#take(4).readUInt32LE();
      case 'sfixed32':
        return this.#take(4).readInt32LE();
      case 'fixed64':
        return Number(this.#take(8).readBigUInt64LE());
      case 'sfixed64':
        return Number(this.#take(8).readBigInt64LE());
      case 'int32':
        return Number(BigInt.asIntN(32, this.#varint()));
      case 'int64':
        return Number(BigInt.asIntN(64, this.#varint()));
      case 'uint32':
        return Number(BigInt.asUintN(32, this.#varint()));
      case 'uint64':
        return Number(this.#varint());
      case 'sint32':
      case 'sint64': {
        const zigzag = this.#varint();
        return Number((zigzag >> 1n) ^ -(zigzag & 1n));
      }
    }
  }

  #text(): string {
    const start = this.#at;
    const bytes = this.#chunk();
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new WireFault('a string is no UTF-8', start);
    }
  }

  /** A field that no name is known of goes by its number, for the decoder to tell of. */
  #strange(message: PlainObject, number: number, wire: number): void {
    message[String(number)] = this.#skip(number, wire, 0);
  }

  #skip(number: number, wire: number, depth: number): unknown {
    if (depth > DEEPEST) this.#fail(`nested more than ${DEEPEST} groups deep`);
    if (wire === VARINT) return Number(this.#varint());
    if (wire === FIXED64) return this.#take(8).toString('base64');
    if (wire === FIXED32) return this.#take(4).toString('base64');
    if (wire === BYTES) return this.#chunk().toString('base64');
    if (wire !== START_GROUP) return this.#fail('there is no such wire type');
    for (;;) {
      const inner = this.#tag();
      if (inner.wire !== END_GROUP) this.#skip(inner.number, inner.wire, depth + 1);
      else if (inner.number === number) return '';
      else this.#fail('a group ends that did not begin');
    }
  }

  #chunk(): Buffer {
    const length = Number(this.#varint());
    return this.#take(length);
  }

  #take(length: number): Buffer {
    if (length > this.#bytes.length - this.#at) this.#fail('the bytes end early');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  #varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) return this.#fail('the bytes end early');
      this.#at++;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    return this.#fail('a number is too long');
  }

  #fail(what: string): never {
    throw new WireFault(what, this.#at);
  }
}

const fieldsOf = new WeakMap<Shape, ReadonlyMap<number, Field>>();

function byNumber(shape: Shape): ReadonlyMap<number, Field> {
  const known = fieldsOf.get(shape);
  if (known) return known;
  const made = new Map(shape.fields.map((field) => [field.number, field]));
  fieldsOf.set(shape, made);
  return made;
}

/** How a value is written where it is not in a packed list. */
function wireOf(type: ValueType | undefined): number {
  if (!type || shapeOf(type)) return BYTES;
  if (type.kind !== 'scalar') return VARINT;
  if (type.scalar === 'string' || type.scalar === 'bytes') return BYTES;
  if (type.scalar === 'double' || type.scalar.endsWith('fixed64')) return FIXED64;
  if (type.scalar === 'float' || type.scalar.endsWith('fixed32')) return FIXED32;
  return VARINT;
}

const finiteOrText = (value: number): number | string =>
  Number.isFinite(value) ? value : String(value);

/** The double that reads as this float and has the fewest digits. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}
