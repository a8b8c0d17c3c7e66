// Decoded messages as a dump shows them: without their secrets; and what is long in them, however
// deep, is redacted and printed piece by piece.
import { isObject, type PlainObject } from '../../config/objects.js';
import { printField, printMessage, printValue, TYPE_URL } from '../../config/print.js';
import type { FieldType, MessageType, Schema, ValueType } from '../../config/schema.js';
import { LazyList, LazyObject, type Entry } from '../json-page.js';
import { redact, redactField, redactValue } from './redact.js';

/** What has fewer values in it is printed at once: some 50 µs. */
const LONG_VALUES = 256;
/** This much text weighs as much as a value. */
const VALUE_CHARACTERS = 64;

/** Well-known types that are decoded to the JSON that they stand for. */
const JSON_KINDS: ReadonlySet<ValueType['kind']> = new Set(['struct', 'value', 'list']);

export class LazyMessages {
  readonly #schema: Schema;

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** For a JSON page. */
  message(type: MessageType, message: PlainObject, isSensitive = false): unknown {
    return isLong(message)
      ? new LazyObject(() => this.fields(type, message, isSensitive))
      : printMessage(this.#schema, type, redact(this.#schema, type, message, isSensitive));
  }

  /** The same, as an Any has it: with its type. */
  typed(type: MessageType, message: PlainObject): unknown {
    const head = { '@type': TYPE_URL + type.name };
    if (!isLong(message)) {
      const shown = redact(this.#schema, type, message);
      return { ...head, ...printMessage(this.#schema, type, shown) };
    }
    const fields = (): Iterable<Entry> => this.fields(type, message);
    return new LazyObject(function* () {
      yield* Object.entries(head);
      yield* fields();
    });
  }

  *fields(type: MessageType, message: PlainObject, isSensitive = false): Generator<Entry> {
    for (const field of type.fields) {
      const value = message[field.name];
      if (value === undefined) continue;
      const shown = this.#field(field, value, isSensitive || field.sensitive);
      if (shown !== undefined) yield [field.name, shown];
    }
  }

  #field(field: FieldType, value: unknown, isSensitive: boolean): unknown {
    const type = field.value;
    if (isLong(value) && isSplit(type, isSensitive)) {
      if (field.label === 'one') return this.#value(type, value, isSensitive);
      if (field.label === 'many') return this.#list(type, value as readonly unknown[], isSensitive);
      return this.#map(type, value as PlainObject, isSensitive);
    }
    const shown = redactField(this.#schema, field, value, isSensitive);
    return shown === undefined ? undefined : printField(this.#schema, field, shown);
  }

  #list(type: ValueType, items: readonly unknown[], isSensitive: boolean): LazyList {
    const show = (item: unknown): unknown => this.#value(type, item, isSensitive);
    return new LazyList(function* () {
      for (const item of items) yield show(item);
    });
  }

  #map(type: ValueType, map: PlainObject, isSensitive: boolean): LazyObject {
    const show = (item: unknown): unknown => this.#value(type, item, isSensitive);
    return new LazyObject(function* () {
      for (const key of Object.keys(map)) yield [key, show(map[key])];
    });
  }

  #value(type: ValueType, value: unknown, isSensitive: boolean): unknown {
    if (isLong(value) && isSplit(type, isSensitive)) {
      if (type.kind === 'message')
        return new LazyObject(() => this.fields(type.type, value as PlainObject, isSensitive));
      if (type.kind === 'any')
        return new LazyObject(() => this.#anyEntries(value as PlainObject, isSensitive));
      if (JSON_KINDS.has(type.kind)) return lazyJson(value);
    }
    return printValue(this.#schema, type, redactValue(this.#schema, type, value, isSensitive));
  }

  *#anyEntries(any: PlainObject, isSensitive: boolean): Generator<Entry> {
    const struct = any['$struct'];
    if (isObject(struct)) {
      yield* this.#anyEntries(struct, isSensitive);
      return;
    }
    const name = String(any['$type']);
    if (name === '') return;
    yield ['@type', TYPE_URL + name];
    const type = this.#schema.valueTypeOf(name);
    if (type?.kind === 'message') {
      yield* this.fields(type.type, any, isSensitive);
    } else if (type && any['value'] !== undefined) {
      const value = this.#value(type, any['value'], isSensitive);
      if (value !== undefined) yield ['value', value];
    }
  }
}

/** Single values that are sensitive may be left out: the whole says what becomes of a list of them. */
function isSplit(type: ValueType, isSensitive: boolean): boolean {
  return type.kind === 'message' || type.kind === 'any' || !isSensitive;
}

/** Of a JSON value, as the well-known types have it. */
function lazyJson(value: unknown): unknown {
  if (!isLong(value)) return value;
  if (Array.isArray(value)) {
    return new LazyList(function* () {
      for (const item of value) yield lazyJson(item);
    });
  }
  if (!isObject(value)) return value;
  return new LazyObject(function* () {
    for (const key of Object.keys(value)) yield [key, lazyJson(value[key])];
  });
}

const isLong = (value: unknown): boolean => weigh(value, LONG_VALUES) <= 0;

/** What is left of the limit; it is not looked further once nothing is. */
function weigh(value: unknown, limit: number): number {
  if (typeof value === 'string' || value instanceof Uint8Array)
    return limit - 1 - value.length / VALUE_CHARACTERS;
  let left = limit - 1;
  if (typeof value !== 'object' || value === null) return left;
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const item of items) {
    left = weigh(item, left);
    if (left <= 0) break;
  }
  return left;
}
