// Hides secrets in decoded messages, however deep: fields that the .proto files mark as sensitive,
// and all that is below them.
import { isObject, setOwn, type PlainObject } from '../../config/objects.js';
import type { FieldType, MessageType, Schema, ValueType } from '../../config/schema.js';

const HIDDEN = '[redacted]';
const HIDDEN_BYTES = Buffer.from(HIDDEN);

/** A copy in which texts and bytes read `[redacted]` and other sensitive values are left out. */
export function redact(
  schema: Schema,
  type: MessageType,
  message: PlainObject,
  isSensitive = false,
): PlainObject {
  const copy: PlainObject = {};
  for (const [name, value] of Object.entries(message)) {
    const field = type.field(name);
    const shown = field ? redactField(schema, field, value, isSensitive) : value;
    if (shown !== undefined) setOwn(copy, name, shown);
  }
  return copy;
}

/** The same of a decoded Any. */
export function redactAny(schema: Schema, any: PlainObject, isSensitive = false): PlainObject {
  const struct = any['$struct'];
  if (isObject(struct)) return { ...any, $struct: redactAny(schema, struct, isSensitive) };
  const type = schema.valueTypeOf(String(any['$type']));
  if (type?.kind === 'message') return redact(schema, type.type, any, isSensitive);
  if (!type || any['value'] === undefined) return any;
  return { ...any, value: redactValue(schema, type, any['value'], isSensitive) };
}

/** Undefined: it is left out. */
export function redactField(
  schema: Schema,
  { label, sensitive, value: type }: FieldType,
  value: unknown,
  isBelowSensitive: boolean,
): unknown {
  if (value === undefined) return undefined;
  const isSensitive = sensitive || isBelowSensitive;
  if (label === 'one') return redactValue(schema, type, value, isSensitive);
  if (label === 'many') {
    const items = (value as readonly unknown[]).map((item) =>
      redactValue(schema, type, item, isSensitive),
    );
    return items.filter((item) => item !== undefined);
  }
  const map: PlainObject = {};
  for (const [key, item] of Object.entries(value as PlainObject)) {
    setOwn(map, key, redactValue(schema, type, item, isSensitive));
  }
  return map;
}

/** The same of a single value. */
export function redactValue(
  schema: Schema,
  type: ValueType,
  value: unknown,
  isSensitive: boolean,
): unknown {
  if (type.kind === 'message') return redact(schema, type.type, value as PlainObject, isSensitive);
  if (type.kind === 'any') return redactAny(schema, value as PlainObject, isSensitive);
  if (!isSensitive) return value;
  if (value instanceof Uint8Array) return HIDDEN_BYTES;
  if (type.kind === 'scalar') return typeof value === 'string' ? HIDDEN : undefined;
  if (type.kind === 'struct' || type.kind === 'value' || type.kind === 'list') return hidden(value);
  return undefined;
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
