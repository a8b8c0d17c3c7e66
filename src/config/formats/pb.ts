// Protobuf's binary format: what protobufjs reads becomes what JSON has.
import { schema, type Schema, type ValueType } from '../schema/schema.js';
import type { Scalar } from '../schema/scalar.js';
import { setOwn, type PlainObject } from '../values/objects.js';
import { defaultScalar } from '../values/scalars.js';
import type { Format, ValueFault } from './format.js';
import { fieldsIn, nameOf, WireTypes, type WireMessage } from './pb-types.js';
import { typeOfEra } from './v2-fields.js';
import { emptyOf, plainAny, plainOf, shapeOf, type Field, type Shape } from './well-known.js';

const BOOTSTRAP = 'envoy.config.bootstrap.v3.Bootstrap';

export const pbFormat: Format = {
  name: 'binary protobuf',
  encoding: 'bytes',
  read(text, name = BOOTSTRAP) {
    const types = schema();
    const reading = new Reading(types);
    const type: ValueType = { kind: 'message', type: types.getMessage(name) };
    // Envoy uses what came before, and says nothing.
    const value = reading.value(type, Buffer.from(text, 'latin1'), 0, 'warning');
    return { ok: true, value, faults: reading.faults };
  },
  places: () => undefined,
};

/** An Any of a type URL and base64, as JSON has it; paths of faults begin at the Any. */
export function readBinaryAny(
  types: Schema,
  any: PlainObject,
): { readonly any: PlainObject; readonly faults: readonly ValueFault[] } {
  const reading = new Reading(types);
  return { any: reading.any(any, 0), faults: reading.faults };
}

/** The same, of the bytes themselves. */
export function readAny(
  types: Schema,
  url: string,
  bytes: Buffer,
): { readonly any: PlainObject; readonly faults: readonly ValueFault[] } {
  const type = typeOfEra(types, url);
  if (!type || !shapeOf(type)) return { any: { '@type': url }, faults: [] };
  const reading = new Reading(types);
  return { any: plainAny(url, type, reading.value(type, bytes, 0)), faults: reading.faults };
}

const wireTypes = new WeakMap<Schema, WireTypes>();

function wireTypesOf(types: Schema): WireTypes {
  let made = wireTypes.get(types);
  if (!made) wireTypes.set(types, (made = new WireTypes(types)));
  return made;
}

/** One message with all that is in it. Where its bytes go wrong it ends, as do those around it. */
class Reading {
  readonly faults: ValueFault[] = [];
  readonly #schema: Schema;
  readonly #wire: WireTypes;
  readonly #path: (string | number)[] = [];

  constructor(types: Schema) {
    this.#schema = types;
    this.#wire = wireTypesOf(types);
  }

  value(type: ValueType, bytes: Buffer, depth: number, severity?: 'warning'): unknown {
    const shape = shapeOf(type);
    if (!shape) return undefined;
    const { message, fault } = this.#wire.read(shape, nameOf(type), bytes, depth);
    const value = this.#message(type, shape, message, depth);
    if (fault) {
      this.faults.push({
        message: `is no binary protobuf: ${fault.message} at byte ${fault.offset}`,
        offset: fault.offset,
        path: [...this.#path, ...fault.path],
        ...(severity && { severity }),
      });
    }
    return value;
  }

  /** Envoy reads what an Any holds later, when it is an error that it cannot be read. */
  any(message: PlainObject, depth: number): PlainObject {
    const url = message['type_url'];
    if (url === undefined) return {};
    const type = typeOfEra(this.#schema, url as string);
    if (!type || !shapeOf(type)) return { '@type': url };
    const bytes = Buffer.from((message['value'] ?? '') as string, 'base64');
    return plainAny(url as string, type, this.value(type, bytes, depth + 1));
  }

  #message(type: ValueType, shape: Shape, wire: WireMessage, depth: number): unknown {
    const message: PlainObject = {};
    for (const { field } of fieldsIn(wire, this.#schema, shape)) {
      this.#path.push(field.name);
      const value = this.#field(field, wire[field.name], depth);
      if (value !== undefined) message[field.name] = value;
      this.#path.pop();
    }
    // They go by their numbers, for the decoder to tell of.
    for (const bytes of wire.$unknowns ?? []) message[String(numberOf(bytes))] = '';
    return type.kind === 'any' ? this.any(message, depth) : plainOf(type, message);
  }

  #field(field: Field, value: unknown, depth: number): unknown {
    if (field.label === 'one') return this.#one(field.value, value, depth);
    const items = value as readonly unknown[];
    if (field.label === 'map') return this.#map(field, items as readonly WireMessage[], depth);
    return items.map((item, index) => {
      this.#path.push(index);
      const plain = this.#one(field.value, item, depth);
      this.#path.pop();
      return plain;
    });
  }

  #map(field: Field, entries: readonly WireMessage[], depth: number): PlainObject {
    const map: PlainObject = {};
    for (const entry of entries) {
      const key = Object.hasOwn(entry, 'key') ? entry['key'] : undefined;
      const name = String(key ?? defaultScalar(field.keyType ?? 'string'));
      this.#path.push(name);
      const value = Object.hasOwn(entry, 'value')
        ? this.#one(field.value, entry['value'], depth + 1)
        : emptyOf(field.value);
      this.#path.pop();
      setOwn(map, name, value);
    }
    return map;
  }

  #one(type: ValueType, value: unknown, depth: number): unknown {
    const shape = shapeOf(type);
    if (shape) return this.#message(type, shape, value as WireMessage, depth + 1);
    if (type.kind === 'enum') return type.type.names.get(value as number) || value;
    return type.kind === 'scalar' ? plainScalar(type.scalar, value) : value;
  }
}

/** protobufjs has 64 bits as an object of two halves. */
function plainScalar(scalar: Scalar, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (typeof value === 'object') return Number(value);
  if (scalar === 'float') return finiteOrText(shortest(value as number));
  return scalar === 'double' ? finiteOrText(value as number) : value;
}

/** Of the field that begins with these bytes: a tag is a number of seven bits a byte, and three of them the type. */
function numberOf(bytes: Uint8Array): number {
  let tag = 0;
  for (const [index, byte] of bytes.entries()) {
    tag += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) break;
  }
  return Math.floor(tag / 8);
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
