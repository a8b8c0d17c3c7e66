// A value, as a YAML or JSON reader gives it, to a typed message. The one walker: it names every
// field that is unknown, of the wrong type or set twice, and goes on.
import { formatPath } from './issues/field-path.js';
import type { Issue } from './issues/issue.js';
import { mergeField } from './merge.js';
import { describeValue, isObject, setOwn, type PlainObject } from './values/objects.js';
import {
  defaultScalar,
  describeScalar,
  isDefault,
  parseEnum,
  parseScalar,
} from './values/scalars.js';
import type { EnumType, FieldType, MessageType, Schema, ValueType } from './schema/schema.js';
import type { Scalar } from './schema/scalar.js';
import { nearestName } from '../base/suggest.js';
import {
  areParts,
  DURATION_FORM,
  fromParts,
  parseDuration,
  parseTimestamp,
  TIMESTAMP_FORM,
} from './values/times.js';

/** A message: fields by their .proto names; `$type` where it came out of an Any. */
export type Message = PlainObject;

export interface DecodeOptions {
  /** What an unknown field or enum value is; `error` unless given. */
  readonly unknownFields?: 'error' | 'warning' | undefined;
}

export interface Decoded {
  readonly message: Message;
  readonly issues: readonly Issue[];
  /** Paths whose value is missing from the message because something is wrong with it. */
  readonly broken: ReadonlySet<string>;
}

// As deep as protobuf's own reader goes.
const DEEPEST = 100;

const TYPED_STRUCTS = new Set(['xds.type.v3.TypedStruct', 'udpa.type.v1.TypedStruct']);

/** Never throws, whatever the value is. Issues have no positions yet. */
export function decodeMessage(
  schema: Schema,
  type: MessageType,
  value: unknown,
  options: DecodeOptions = {},
): Decoded {
  const walk = new Walk(schema, options);
  return { message: walk.message(type, value) ?? {}, issues: walk.issues, broken: walk.broken };
}

class Walk {
  readonly issues: Issue[] = [];
  readonly broken = new Set<string>();
  readonly #schema: Schema;
  readonly #unknownFields: 'error' | 'warning';
  readonly #path: (string | number)[] = [];
  #depth = 0;

  constructor(schema: Schema, options: DecodeOptions) {
    this.#schema = schema;
    this.#unknownFields = options.unknownFields ?? 'error';
  }

  message(type: MessageType, value: unknown): Message | undefined {
    if (!isObject(value)) return this.#refuse(value, 'a mapping');
    const message: Message = {};
    this.#fields(type, value, message);
    return message;
  }

  #fields(type: MessageType, value: PlainObject, message: Message): void {
    if (++this.#depth > DEEPEST) {
      this.#report({ message: `is nested more than ${DEEPEST} messages deep` });
    } else {
      let oneofs: Map<number, FieldType> | undefined;
      for (const key of Object.keys(value)) {
        if (key === '@type' && message['$type'] !== undefined) continue;
        const field = type.field(key);
        this.#path.push(field?.name ?? key);
        if (!field) {
          this.#unknownField(type, key);
        } else if (value[key] !== null || field.value.kind === 'value') {
          if (field.oneofIndex !== undefined) {
            oneofs ??= new Map();
            this.#claimOneof(oneofs, field.oneofIndex, field);
          }
          this.#field(field, value[key], message);
        }
        this.#path.pop();
      }
    }
    this.#depth--;
  }

  #field(field: FieldType, value: unknown, message: Message): void {
    const decoded =
      field.label === 'one'
        ? this.#value(field.value, value)
        : field.label === 'many'
          ? this.#list(field.value, value)
          : this.#map(field.value, field.keyType ?? 'string', value);
    if (decoded === undefined) return;
    if ((field.deprecated || field.disallowed) && isSet(field, decoded)) {
      this.#deprecated(field.disallowed);
    }
    // Both names of the field are given: the later adds to the earlier.
    if (message[field.name] !== undefined) mergeField(field, message, decoded);
    else message[field.name] = decoded;
  }

  #list(type: ValueType, value: unknown): unknown[] {
    // Envoy takes a single value for a list of one.
    const items = Array.isArray(value) ? (value as unknown[]) : [value];
    const isList = items === value;
    const decoded: unknown[] = [];
    for (let index = 0; index < items.length; index++) {
      const item = items[index];
      if (isList) this.#path.push(index);
      // What is refused keeps its place, so that later elements keep their index.
      const element = item === null && type.kind !== 'value' ? undefined : this.#value(type, item);
      decoded.push(element === undefined ? defaultOf(type) : element);
      if (isList) this.#path.pop();
    }
    return decoded;
  }

  #map(type: ValueType, keyType: Scalar, value: unknown): PlainObject | undefined {
    if (!isObject(value)) return this.#refuse(value, 'a mapping');
    const decoded: PlainObject = {};
    for (const key of Object.keys(value)) {
      this.#path.push(key);
      const parsedKey = parseScalar(keyType, key);
      if (parsedKey === undefined) {
        this.#refuse(key, `${describeScalar(keyType)} as the key`);
      } else {
        const item = value[key];
        const isNull = item === null && type.kind !== 'value';
        const element = isNull ? defaultOf(type) : this.#value(type, item);
        if (element !== undefined) setOwn(decoded, String(parsedKey as string), element);
      }
      this.#path.pop();
    }
    return decoded;
  }

  #value(type: ValueType, value: unknown): unknown {
    switch (type.kind) {
      case 'scalar':
        return this.#scalar(
          type.scalar,
          type.wrapper && isObject(value) ? this.#unwrap(type.scalar, value) : value,
        );
      case 'enum':
        return this.#enum(type.type, value);
      case 'message':
        return this.message(type.type, value);
      case 'any':
        return this.#any(value);
      case 'duration':
        return this.#duration(value);
      case 'timestamp':
        return this.#text(value, parseTimestamp, TIMESTAMP_FORM);
      case 'mask':
        return this.#text(value, snakeCase, 'field names joined by commas');
      case 'struct':
      case 'empty':
        return isObject(value) ? this.#plain(value) : this.#refuse(value, 'a mapping');
      case 'list':
        return Array.isArray(value) ? this.#plain(value) : this.#refuse(value, 'a list');
      case 'value':
        return this.#plain(value);
    }
  }

  #scalar(scalar: Scalar, value: unknown): unknown {
    const parsed = parseScalar(scalar, value);
    return parsed === undefined ? this.#refuse(value, describeScalar(scalar)) : parsed;
  }

  /** A wrapper may be written as the message it is: `{value: 5}`. */
  #unwrap(scalar: Scalar, wrapper: PlainObject): unknown {
    for (const key of Object.keys(wrapper)) if (key !== 'value') return wrapper;
    return wrapper['value'] ?? defaultScalar(scalar);
  }

  /** Its name; a number that has none is as good as any other where no rule closes the enum. */
  #enum(type: EnumType, value: unknown): string | number | undefined {
    const parsed = parseEnum(type, value);
    if (parsed === undefined) {
      const isName = typeof value === 'string';
      const suggestion = isName ? nearestName(value, type.numbers.keys()) : undefined;
      this.#report({
        message: isName
          ? `unknown enum value ${describeValue(value)} of ${type.name}`
          : `found ${describeValue(value)}`,
        expected: `one of ${[...type.numbers.keys()].join(', ')}`,
        ...(suggestion !== undefined && { suggestion }),
        ...(isName && {
          severity: this.#unknownFields,
          code: 'unknown_value',
          shownPath: formatPath(this.#path.slice(0, -1)),
        }),
      });
      return undefined;
    }
    const note = typeof parsed === 'string' ? type.note(parsed) : undefined;
    if (note) this.#deprecated(note === 'disallowed', String(parsed));
    return parsed;
  }

  #duration(value: unknown): number | undefined {
    if (
      isObject(value) &&
      Object.keys(value).every((key) => key === 'seconds' || key === 'nanos')
    ) {
      const seconds = parseScalar('int64', value['seconds'] ?? 0);
      const nanos = parseScalar('int32', value['nanos'] ?? 0);
      if (typeof seconds === 'number' && typeof nanos === 'number') {
        if (areParts(seconds, nanos)) return fromParts(seconds, nanos);
        return this.#refuse(value, 'seconds and nanos of one sign, the nanos below a second');
      }
    }
    return this.#text(value, parseDuration, DURATION_FORM);
  }

  #text<T>(
    value: unknown,
    parse: (text: string) => T | undefined,
    expected: string,
  ): T | undefined {
    const parsed = typeof value === 'string' ? parse(value) : undefined;
    return parsed === undefined ? this.#refuse(value, expected) : parsed;
  }

  /**
   * Struct and Value hold what the reader gave, which is plain already; only its depth is to be
   * bounded.
   */
  #plain<T>(value: T): T | undefined {
    if (depthWithin(value, DEEPEST - this.#depth)) return value;
    this.#report({ message: `is nested more than ${DEEPEST} levels deep` });
    return undefined;
  }

  #any(value: unknown): Message | undefined {
    if (!isObject(value)) return this.#refuse(value, 'a mapping with "@type"');
    const url = value['@type'];
    if (url === undefined) {
      // An Any that holds nothing: whoever needs something in it asks for it.
      if (Object.keys(value).length === 0) return { $type: '' };
      this.#report({
        message: 'has no "@type"',
        expected: 'the type URL of what it holds, as "type.googleapis.com/…"',
      });
      return undefined;
    }
    this.#path.push('@type');
    const name = this.#typeName(url);
    this.#path.pop();
    if (name === undefined) {
      this.broken.add(formatPath(this.#path));
      return undefined;
    }
    const decoded = this.#anyOf(name, value);
    return TYPED_STRUCTS.has(name) ? this.#typedStruct(decoded, value) : decoded;
  }

  /** The full name in a type URL, where the schema has it. */
  #typeName(url: unknown): string | undefined {
    if (typeof url !== 'string') return this.#refuse(url, 'a type URL, as "type.googleapis.com/…"');
    const slash = url.lastIndexOf('/');
    const name = url.slice(slash + 1);
    const isKnown = this.#schema.valueTypeOf(name) !== undefined;
    if (slash > 0 && isKnown) return name;
    const nearest = isKnown ? name : this.#schema.nearestMessage(name);
    this.#report({
      message: isKnown ? `"${url}" is no type URL` : `type "${name}" is not supported`,
      ...(!isKnown && { code: 'unknown_type' as const }),
      ...(nearest !== undefined && { suggestion: `type.googleapis.com/${nearest}` }),
    });
    return undefined;
  }

  #anyOf(name: string, value: PlainObject): Message {
    const type = this.#schema.valueTypeOf(name);
    const message: Message = { $type: name };
    if (type?.kind === 'message') {
      this.#fields(type.type, value, message);
    } else if (type) {
      // Well-known types that are no JSON objects stand beside "@type" under "value".
      this.#path.push('value');
      const given = value['value'];
      const inner = given === undefined ? defaultOf(type) : this.#value(type, given);
      if (inner !== undefined) message['value'] = inner;
      this.#path.pop();
    }
    return message;
  }

  /**
   * A TypedStruct that names a known type stands for a message of that type. The message keeps it
   * under `$struct`, to be printed as it came.
   */
  #typedStruct(struct: Message, source: PlainObject): Message {
    const url = struct['type_url'];
    const name = typeof url === 'string' ? url.slice(url.lastIndexOf('/') + 1) : '';
    const type = this.#schema.findMessage(name);
    if (!type || TYPED_STRUCTS.has(name)) return struct;
    const message: Message = { $type: name, $struct: struct };
    this.#path.push('value');
    const fields = source['value'] ?? {};
    if (isObject(fields)) this.#fields(type, fields, message);
    this.#path.pop();
    return message;
  }

  #claimOneof(taken: Map<number, FieldType>, index: number, field: FieldType): void {
    const first = taken.get(index);
    if (first && first !== field) {
      const names = field.oneof?.fields.map(({ name }) => name).join(', ') ?? '';
      this.#report({ message: `"${first.name}" is set as well`, expected: `only one of ${names}` });
    }
    taken.set(index, field);
  }

  #unknownField(type: MessageType, key: string): void {
    const suggestion = nearestName(
      key,
      type.fields.map(({ name }) => name),
    );
    this.#report({
      severity: this.#unknownFields,
      message: `unknown field of ${type.name}`,
      ...(suggestion !== undefined && { suggestion }),
      code: 'unknown_field',
    });
    // Whoever misspelt a name is not to be told that the field is missing.
    if (suggestion !== undefined) {
      this.broken.add(formatPath([...this.#path.slice(0, -1), suggestion]));
    }
  }

  #deprecated(isDisallowed: boolean, value?: string): void {
    const what = value === undefined ? 'is deprecated' : `${value} is deprecated`;
    const message = isDisallowed ? `${what} and no longer allowed` : what;
    const severity = isDisallowed ? 'error' : 'warning';
    const path = formatPath(this.#path);
    this.issues.push({ severity, path, message, code: 'deprecated_field' });
  }

  #refuse(value: unknown, expected: string): undefined {
    this.#report({ message: `found ${describeValue(value)}`, expected });
  }

  #report(issue: Partial<Issue> & { readonly message: string }): void {
    const path = formatPath(this.#path);
    this.broken.add(path);
    this.issues.push({ severity: 'error', path, ...issue });
  }
}

/** Whether the real server knows that the field was written. */
function isSet(field: FieldType, decoded: unknown): boolean {
  if (field.presence) return true;
  if (field.label !== 'one') return Object.keys(decoded as object).length > 0;
  return !isDefault(field.value, decoded);
}

function defaultOf(type: ValueType): unknown {
  switch (type.kind) {
    case 'scalar':
      return defaultScalar(type.scalar);
    case 'enum':
      return type.type.names.get(0);
    case 'list':
      return [];
    case 'duration':
      return 0;
    case 'timestamp':
    case 'mask':
      return '';
    default:
      return {};
  }
}

const snakeCase = (mask: string): string =>
  mask.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function depthWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels <= 0) return false;
  for (const item of Object.values(value)) if (!depthWithin(item, levels - 1)) return false;
  return true;
}
