// Decoded messages as the proto3 JSON that Envoy's admin pages print: names of the .proto files,
// fields in the order of their numbers.
import { isObject, setOwn, type PlainObject } from './values/objects.js';
import { defaultScalar, isDefault } from './values/scalars.js';
import type { FieldType, MessageType, Schema, ValueType } from './schema/schema.js';
import { printDuration } from './values/times.js';

export interface PrintOptions {
  /**
   * `unset` also prints fields without presence that have their default, and empty lists and maps.
   */
  readonly defaults?: 'omitted' | 'unset' | undefined;
}

export const TYPE_URL = 'type.googleapis.com/';
const LARGEST_UINT64 = 18_446_744_073_709_551_615n;
const LARGEST_INT64 = 9_223_372_036_854_775_807n;

/** A plain object for JSON.stringify. */
export function printMessage(
  schema: Schema,
  type: MessageType,
  message: PlainObject,
  options: PrintOptions = {},
): PlainObject {
  return new Printer(schema, options.defaults === 'unset').message(type, message);
}

/** The same of a decoded Any: its `@type`, then its fields. */
export function printAny(
  schema: Schema,
  any: PlainObject,
  options: PrintOptions = {},
): PlainObject {
  return new Printer(schema, options.defaults === 'unset').any(any);
}

/** Of an element of a list or of a map, or of a message's single field. */
export function printValue(schema: Schema, type: ValueType, value: unknown): unknown {
  return new Printer(schema, false).value(type, value);
}

class Printer {
  readonly #schema: Schema;
  readonly #isPrintingDefaults: boolean;

  constructor(schema: Schema, isPrintingDefaults: boolean) {
    this.#schema = schema;
    this.#isPrintingDefaults = isPrintingDefaults;
  }

  message(type: MessageType, message: PlainObject, printed: PlainObject = {}): PlainObject {
    for (const field of type.fields) {
      const value = this.field(field, message[field.name]);
      if (value !== undefined) setOwn(printed, field.name, value);
    }
    return printed;
  }

  any(message: PlainObject): PlainObject {
    const struct = message['$struct'];
    if (isObject(struct)) return this.any(struct);
    const name = String(message['$type']);
    if (name === '') return {};
    const printed: PlainObject = { '@type': TYPE_URL + name };
    const type = this.#schema.valueTypeOf(name);
    if (type?.kind === 'message') return this.message(type.type, message, printed);
    // Nothing of Empty has a form of its own.
    if (type && type.kind !== 'empty' && message['value'] !== undefined)
      printed['value'] = this.value(type, message['value']);
    return printed;
  }

  field(field: FieldType, value: unknown): unknown {
    if (field.label === 'many') {
      const items = (value ?? []) as readonly unknown[];
      if (items.length === 0 && !this.#isPrintingDefaults) return undefined;
      return items.map((item) => this.value(field.value, item));
    }
    if (field.label === 'map') return this.#map(field.value, (value ?? {}) as PlainObject);
    if (field.presence) return value === undefined ? undefined : this.value(field.value, value);
    const isUnset = value === undefined || isDefault(field.value, value);
    if (isUnset && !this.#isPrintingDefaults) return undefined;
    return this.value(field.value, value ?? defaultOf(field.value));
  }

  #map(type: ValueType, map: PlainObject): PlainObject | undefined {
    const keys = Object.keys(map);
    if (keys.length === 0 && !this.#isPrintingDefaults) return undefined;
    const printed: PlainObject = {};
    for (const key of keys) setOwn(printed, key, this.value(type, map[key]));
    return printed;
  }

  value(type: ValueType, value: unknown): unknown {
    switch (type.kind) {
      case 'message':
        return this.message(type.type, value as PlainObject);
      case 'any':
        return this.any(value as PlainObject);
      case 'scalar':
        return printScalar(type.scalar, value);
      case 'duration':
        return printDuration(value as number);
      case 'mask':
        return camelCase(value as string);
      default:
        return value;
    }
  }
}

function printScalar(scalar: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (typeof value !== 'number') return value;
  if (scalar.endsWith('64')) return printInteger64(scalar, value);
  return Number.isFinite(value) ? value : String(value);
}

/** 64-bit integers are strings in JSON; a double past the largest stands for the largest. */
function printInteger64(scalar: string, value: number): string {
  const isUnsigned = scalar === 'uint64' || scalar === 'fixed64';
  const largest = isUnsigned ? LARGEST_UINT64 : LARGEST_INT64;
  const integer = BigInt(Math.trunc(value));
  return String(integer > largest ? largest : integer);
}

function defaultOf(type: ValueType): unknown {
  if (type.kind === 'scalar') return defaultScalar(type.scalar);
  return type.kind === 'enum' ? type.type.names.get(0) : undefined;
}

const camelCase = (mask: string): string =>
  mask.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
