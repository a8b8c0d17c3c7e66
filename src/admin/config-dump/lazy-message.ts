// Decoded messages for a page: what is long in them, however deep, is written piece by piece.
import { isObject, type PlainObject } from '../../config/values/objects.js';
import { TYPE_URL } from '../../config/print.js';
import type { FieldType, MessageType, Schema, ValueType } from '../../config/schema/schema.js';
import { LazyList, LazyObject, WrittenJson, type Entry } from '../pages/json-page.js';
import { MessageTexts } from './message-texts.js';

/** What has fewer values in it is written at once: some 20 µs. */
const LONG_VALUES = 256;
/** This much text weighs as much as a value. */
const VALUE_CHARACTERS = 64;

/** Well-known types that are decoded to the JSON that they stand for. */
const JSON_KINDS: ReadonlySet<ValueType['kind']> = new Set(['struct', 'value', 'list']);

/** A value's `depth` is that of the line on which it begins. */
export class LazyMessages {
  readonly #schema: Schema;
  readonly #texts: MessageTexts;

  constructor(schema: Schema) {
    this.#schema = schema;
    this.#texts = new MessageTexts(schema);
  }

  /** For a JSON page. */
  message(
    type: MessageType,
    message: PlainObject,
    depth: number,
    isSensitive = false,
  ): LazyObject | WrittenJson {
    return isLong(message)
      ? new LazyObject((inner) => this.fields(type, message, inner, isSensitive))
      : new WrittenJson(this.#texts.message(type, message, depth, isSensitive));
  }

  /** The same, as an Any has it: with its type. */
  typed(type: MessageType, message: PlainObject, depth: number): LazyObject | WrittenJson {
    return isLong(message)
      ? new LazyObject((inner) => this.#typedEntries(type, message, inner, false))
      : new WrittenJson(this.#texts.typed(type, message, depth, false));
  }

  *fields(
    type: MessageType,
    message: PlainObject,
    depth: number,
    isSensitive = false,
  ): Generator<Entry> {
    for (const field of type.fields) {
      const value = message[field.name];
      if (value === undefined) continue;
      const shown = this.#field(field, value, depth, isSensitive || field.sensitive);
      if (shown !== undefined) yield [field.name, shown];
    }
  }

  *#typedEntries(
    type: MessageType,
    message: PlainObject,
    depth: number,
    isSensitive: boolean,
  ): Generator<Entry> {
    yield ['@type', TYPE_URL + type.name];
    yield* this.fields(type, message, depth, isSensitive);
  }

  #field(field: FieldType, value: unknown, depth: number, isSensitive: boolean): unknown {
    const type = field.value;
    if (isLong(value) && isSplit(type, isSensitive)) {
      if (field.label === 'one') return this.#value(type, value, depth, isSensitive);
      if (field.label === 'many') return this.#list(type, value as readonly unknown[], isSensitive);
      return this.#map(type, value as PlainObject, isSensitive);
    }
    return written(this.#texts.field(field, value, depth, isSensitive));
  }

  #list(type: ValueType, items: readonly unknown[], isSensitive: boolean): LazyList {
    const show = (item: unknown, depth: number): unknown =>
      this.#value(type, item, depth, isSensitive);
    return new LazyList(function* (depth) {
      for (const item of items) yield show(item, depth);
    });
  }

  #map(type: ValueType, map: PlainObject, isSensitive: boolean): LazyObject {
    const show = (item: unknown, depth: number): unknown =>
      this.#value(type, item, depth, isSensitive);
    return new LazyObject(function* (depth) {
      for (const key of Object.keys(map)) yield [key, show(map[key], depth)];
    });
  }

  #value(type: ValueType, value: unknown, depth: number, isSensitive: boolean): unknown {
    if (isLong(value) && isSplit(type, isSensitive)) {
      if (type.kind === 'message')
        return this.message(type.type, value as PlainObject, depth, isSensitive);
      if (type.kind === 'any')
        return new LazyObject((inner) =>
          this.#anyEntries(value as PlainObject, inner, isSensitive),
        );
      if (JSON_KINDS.has(type.kind)) return lazyJson(value);
    }
    return written(this.#texts.value(type, value, depth, isSensitive));
  }

  *#anyEntries(any: PlainObject, depth: number, isSensitive: boolean): Generator<Entry> {
    const struct = any['$struct'];
    if (isObject(struct)) {
      yield* this.#anyEntries(struct, depth, isSensitive);
      return;
    }
    const name = String(any['$type']);
    if (name === '') return;
    const type = this.#schema.valueTypeOf(name);
    if (type?.kind === 'message') {
      yield* this.#typedEntries(type.type, any, depth, isSensitive);
      return;
    }
    yield ['@type', TYPE_URL + name];
    if (type && any['value'] !== undefined) {
      const value = this.#value(type, any['value'], depth, isSensitive);
      if (value !== undefined) yield ['value', value];
    }
  }
}

const written = (text: string | undefined): WrittenJson | undefined =>
  text === undefined ? undefined : new WrittenJson(text);

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
  // Makes no list of them: this is asked of all that is shown.
  for (const key in value) {
    left = weigh((value as PlainObject)[key], left);
    if (left <= 0) break;
  }
  return left;
}
