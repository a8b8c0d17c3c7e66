// Decoded messages as a dump shows them: their JSON, fields in the order of their numbers, without
// secrets. Of what the .proto files mark as sensitive, and of all that is below it, texts and bytes
// read `[redacted]`, and other values are left out.
import { isObject, setOwn, type PlainObject } from '../../config/values/objects.js';
import { printValue, TYPE_URL } from '../../config/print.js';
import type { FieldType, MessageType, Schema, ValueType } from '../../config/schema/schema.js';
import { isDefault } from '../../config/values/scalars.js';
import { indentedJson, newLine, quoted } from '../../base/json-text.js';

const HIDDEN = '[redacted]';
const HIDDEN_TEXT = quoted(HIDDEN);
const HIDDEN_BYTES = quoted(Buffer.from(HIDDEN).toString('base64'));

/** What is asked of a field for each value that is shown. */
interface Field {
  /** Its place among those of its message. */
  readonly order: number;
  readonly name: string;
  readonly label: FieldType['label'];
  readonly type: ValueType;
  readonly hasPresence: boolean;
  readonly isSensitive: boolean;
  /** By depth: what stands before its value, as the first of its object and as a further one. */
  readonly firstHeads: string[];
  readonly furtherHeads: string[];
}

/** A text's `depth` is that of the line on which it begins. */
export class MessageTexts {
  readonly #schema: Schema;
  readonly #fields = new Map<MessageType, ReadonlyMap<string, Field>>();

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  message(type: MessageType, message: PlainObject, depth: number, isSensitive: boolean): string {
    return this.#object(type, message, depth, isSensitive, '');
  }

  /** As an Any has it: with its type. */
  typed(type: MessageType, message: PlainObject, depth: number, isSensitive: boolean): string {
    const head = `{${newLine(depth + 1)}${typeEntry(type.name)}`;
    return this.#object(type, message, depth, isSensitive, head);
  }

  /** Undefined: it is left out. */
  field(
    type: FieldType,
    value: unknown,
    depth: number,
    isBelowSensitive: boolean,
  ): string | undefined {
    const field = this.#fieldsOf(type.message).get(type.name);
    return field && this.#field(field, value, depth, isBelowSensitive);
  }

  /** Of a single value; undefined: it is left out. */
  value(type: ValueType, value: unknown, depth: number, isSensitive: boolean): string | undefined {
    switch (type.kind) {
      case 'message':
        return this.message(type.type, value as PlainObject, depth, isSensitive);
      case 'any':
        return this.#any(value as PlainObject, depth, isSensitive);
      case 'scalar':
        if (isSensitive) return hiddenScalar(value);
        if (typeof value === 'string') return quoted(value);
        break;
      case 'struct':
      case 'value':
      case 'list':
        return indentedJson(isSensitive ? hidden(value) : value, depth);
      default:
        if (isSensitive) return undefined;
    }
    return indentedJson(printValue(this.#schema, type, value), depth);
  }

  /** `text`: the beginning of the object, if it has entries already. */
  #object(
    type: MessageType,
    message: PlainObject,
    depth: number,
    isSensitive: boolean,
    text: string,
  ): string {
    for (const field of this.#setFields(type, message)) {
      const value = this.#field(field, message[field.name], depth + 1, isSensitive);
      if (value !== undefined) text += headOf(field, text === '', depth + 1) + value;
    }
    return text === '' ? '{}' : `${text}${newLine(depth)}}`;
  }

  #any(any: PlainObject, depth: number, isSensitive: boolean): string {
    const struct = any['$struct'];
    if (isObject(struct)) return this.#any(struct, depth, isSensitive);
    const name = String(any['$type']);
    if (name === '') return '{}';
    const type = this.#schema.valueTypeOf(name);
    if (type?.kind === 'message') return this.typed(type.type, any, depth, isSensitive);
    const inner = any['value'];
    const line = newLine(depth + 1);
    let text = `{${line}${typeEntry(name)}`;
    if (type && inner !== undefined) {
      const value = this.value(type, inner, depth + 1, isSensitive);
      if (value !== undefined) text += `,${line}"value": ${value}`;
    }
    return `${text}${newLine(depth)}}`;
  }

  #field(
    { label, type, hasPresence, isSensitive: isItself }: Field,
    value: unknown,
    depth: number,
    isBelowSensitive: boolean,
  ): string | undefined {
    const isSensitive = isItself || isBelowSensitive;
    if (label === 'many') return this.#list(type, value as unknown[], depth, isSensitive);
    if (label === 'map') return this.#map(type, value as PlainObject, depth, isSensitive);
    if (!hasPresence && !isSensitive && isDefault(type, value)) return undefined;
    return this.value(type, value, depth, isSensitive);
  }

  #list(
    type: ValueType,
    items: readonly unknown[],
    depth: number,
    isSensitive: boolean,
  ): string | undefined {
    const line = newLine(depth + 1);
    let text = '';
    for (const item of items) {
      const value = this.value(type, item, depth + 1, isSensitive);
      if (value !== undefined) text += `${text === '' ? '[' : ','}${line}${value}`;
    }
    return text === '' ? undefined : `${text}${newLine(depth)}]`;
  }

  #map(type: ValueType, map: PlainObject, depth: number, isSensitive: boolean): string | undefined {
    const keys = Object.keys(map);
    if (keys.length === 0) return undefined;
    const line = newLine(depth + 1);
    let text = '';
    for (const key of keys) {
      const value = this.value(type, map[key], depth + 1, isSensitive);
      if (value !== undefined) text += `${text === '' ? '{' : ','}${line}${quoted(key)}: ${value}`;
    }
    return text === '' ? '{}' : `${text}${newLine(depth)}}`;
  }

  /** Those that the message has, in their order. */
  #setFields(type: MessageType, message: PlainObject): readonly Field[] {
    const fields = this.#fieldsOf(type);
    const found: Field[] = [];
    let isInOrder = true;
    let last = -1;
    for (const name of Object.keys(message)) {
      const field = fields.get(name);
      if (!field || message[name] === undefined) continue;
      isInOrder &&= field.order > last;
      last = field.order;
      found.push(field);
    }
    return isInOrder ? found : found.sort((a, b) => a.order - b.order);
  }

  #fieldsOf(type: MessageType): ReadonlyMap<string, Field> {
    let fields = this.#fields.get(type);
    if (!fields) {
      fields = new Map(type.fields.map((field, order) => [field.name, describe(field, order)]));
      this.#fields.set(type, fields);
    }
    return fields;
  }
}

const describe = (field: FieldType, order: number): Field => ({
  order,
  name: field.name,
  label: field.label,
  type: field.value,
  hasPresence: field.presence,
  isSensitive: field.sensitive,
  firstHeads: [],
  furtherHeads: [],
});

/** Made once for each depth: a large dump has few fields, and many values of each. */
function headOf(
  { name, firstHeads, furtherHeads }: Field,
  isFirst: boolean,
  depth: number,
): string {
  const heads = isFirst ? firstHeads : furtherHeads;
  return (heads[depth] ??= `${isFirst ? '{' : ','}${newLine(depth)}"${name}": `);
}

const typeEntry = (name: string): string => `"@type": ${quoted(TYPE_URL + name)}`;

function hiddenScalar(value: unknown): string | undefined {
  if (value instanceof Uint8Array) return HIDDEN_BYTES;
  return typeof value === 'string' ? HIDDEN_TEXT : undefined;
}

/** Of a JSON value: its texts are hidden, its lists and objects stay, the rest is null. */
function hidden(value: unknown): unknown {
  if (typeof value === 'string') return HIDDEN;
  if (Array.isArray(value)) return value.map(hidden);
  if (!isObject(value)) return null;
  const copy: PlainObject = {};
  for (const [key, item] of Object.entries(value)) setOwn(copy, key, hidden(item));
  return copy;
}
