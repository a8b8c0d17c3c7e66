// The protobuf text format, read by the fields that the schema has.
import type { FieldPath } from '../issues/field-path.js';
import { isObject, setOwn, type PlainObject } from '../values/objects.js';
import { defaultScalar, describeScalar, parseEnum } from '../values/scalars.js';
import { schema, type Schema, type ValueType } from '../schema/schema.js';
import type { Scalar } from '../schema/scalar.js';
import { removedFields, typeOfEra } from './v2-fields.js';
import type { ValuePlace } from '../issues/value-position.js';
import type { Format, ReadResult, ValueFault } from './format.js';
import { readBinaryAny } from './pb.js';
import { describeToken, TextFault, TextTokens, type Token } from './pb-text-tokens.js';
import {
  emptyOf,
  entryShape,
  plainAny,
  plainOf,
  plainPlaceOf,
  shapeOf,
  type Field,
  type Shape,
} from './well-known.js';

const BOOTSTRAP = 'envoy.config.bootstrap.v3.Bootstrap';
// As deep as protobuf's own reader goes.
const DEEPEST = 100;

export const pbTextFormat: Format = {
  name: 'protobuf text',
  encoding: 'lenient-utf8',
  refusesByteOrderMark: true,
  refusesUnknownFields: true,
  read(text, type = BOOTSTRAP) {
    try {
      const reader = new TextReader(schema(), text);
      return { ok: true, value: reader.document(type).value, faults: reader.faults };
    } catch (error) {
      return { ok: false, fault: faultOf(error) };
    }
  },
  places(text, type = BOOTSTRAP) {
    try {
      return new TextReader(schema(), text).document(type).place;
    } catch (error) {
      faultOf(error);
      return undefined;
    }
  },
};

function faultOf(error: unknown): Extract<ReadResult, { ok: false }>['fault'] {
  if (!(error instanceof TextFault)) throw error;
  return { message: `is no text protobuf: ${error.message}`, offset: error.offset };
}

interface Parsed {
  readonly value: unknown;
  readonly place: ValuePlace;
}

/** One message while its fields are read. */
interface Open {
  readonly shape: Shape | undefined;
  readonly value: PlainObject;
  readonly entries: Map<string, ValuePlace>;
}

/** Reads one text, once. What has the wrong type is left out and told in `faults`. */
class TextReader {
  readonly faults: ValueFault[] = [];
  readonly #schema: Schema;
  readonly #tokens: TextTokens;
  readonly #path: (string | number)[] = [];
  #depth = 0;

  constructor(types: Schema, text: string) {
    this.#schema = types;
    this.#tokens = new TextTokens(text);
  }

  document(name: string): Parsed {
    const open = this.#open(this.#schema.getMessage(name));
    while (this.#tokens.next.kind !== 'end') this.#entry(open);
    return { value: open.value, place: { offset: 0, entries: open.entries } };
  }

  #open(shape: Shape | undefined): Open {
    return { shape, value: {}, entries: new Map() };
  }

  #entry(open: Open): void {
    const { offset } = this.#tokens.next;
    const name = this.#name();
    const field =
      open.shape?.fields.find((candidate) => candidate.name === name) ??
      (open.shape &&
        removedFields(this.#schema, open.shape.name).find((candidate) => candidate.name === name));
    this.#path.push(name);
    if (field) this.#field(open, field, offset);
    else this.#strangeField(open, name, offset);
    this.#path.pop();
    if (!this.#tokens.takeIf(',')) this.#tokens.takeIf(';');
  }

  #name(): string {
    const token = this.#tokens.next;
    if (token.kind === 'word') return this.#tokens.take().text;
    if (!this.#tokens.is('[')) return this.#tokens.fail('expected the name of a field');
    return `[${this.#bracketed()}]`;
  }

  /** The name in `[…]`, which an Any's expansion has. */
  #bracketed(): string {
    this.#tokens.expect('[');
    let name = '';
    while (!this.#tokens.is(']')) {
      const token = this.#tokens.next;
      const isPart = token.kind === 'word' || /^[\w./%~!$&()*+,;=-]+$/.test(token.text);
      if (!isPart) this.#tokens.fail('expected a type URL, as [type.googleapis.com/…]');
      name += this.#tokens.take().text;
    }
    this.#tokens.expect(']');
    return name;
  }

  #field(open: Open, field: Field, keyOffset: number): void {
    this.#colon(field.value);
    if (field.label === 'one') {
      const parsed = this.#value(field.value, keyOffset);
      if (open.entries.has(field.name)) {
        this.#fault('is set twice', keyOffset, 'one value');
      } else {
        open.entries.set(field.name, parsed.place);
        if (parsed.value !== undefined) open.value[field.name] = parsed.value;
      }
      return;
    }
    const add = (): void =>
      field.label === 'map'
        ? this.#mapEntry(open, field, keyOffset)
        : this.#item(open, field, keyOffset);
    if (!this.#tokens.takeIf('[')) {
      add();
      return;
    }
    // An empty list is one too, where nothing else adds to it.
    if (field.label === 'many') listOf(open, field.name, keyOffset);
    this.#elements(add);
  }

  /** What stands between commas up to "]". */
  #elements(read: () => void): void {
    if (this.#tokens.takeIf(']')) return;
    do read();
    while (this.#tokens.takeIf(','));
    if (!this.#tokens.takeIf(']')) this.#tokens.fail('expected "," or "]"');
  }

  #colon(type: ValueType | undefined): void {
    const isMessage = type && shapeOf(type) !== undefined;
    if (isMessage) this.#tokens.takeIf(':');
    else if (type) this.#tokens.expect(':');
  }

  #item(open: Open, field: Field, keyOffset: number): void {
    const { items, places } = listOf(open, field.name, keyOffset);
    this.#path.push(items.length);
    const { value, place } = this.#value(field.value, keyOffset);
    // What is refused keeps its place, so that later elements keep their index.
    items.push(value === undefined ? emptyOf(field.value) : value);
    places.push(place);
    this.#path.pop();
  }

  #mapEntry(open: Open, field: Field, keyOffset: number): void {
    const keyType = field.keyType ?? 'string';
    const start = this.#tokens.next.offset;
    const entry = this.#message(entryShape(field));
    const key = entry.value['key'] ?? defaultScalar(keyType);
    const value = entry.value['value'] ?? emptyOf(field.value);
    const map = (open.value[field.name] ??= {}) as PlainObject;
    setOwn(map, String(key as string), value);
    const place = open.entries.get(field.name) ?? { offset: start, keyOffset, entries: new Map() };
    open.entries.set(field.name, place);
    const valuePlace = entry.entries.get('value') ?? { offset: start };
    (place.entries as Map<string, ValuePlace>).set(String(key as string), {
      ...valuePlace,
      keyOffset: entry.entries.get('key')?.offset ?? start,
    });
  }

  #value(type: ValueType, keyOffset: number | undefined): Parsed {
    const { offset } = this.#tokens.next;
    const shape = shapeOf(type);
    if (!shape) return { value: this.#scalarOrEnum(type), place: { offset, keyOffset } };
    if (!this.#tokens.is('{') && !this.#tokens.is('<')) {
      const token = this.#single();
      this.#fault(`found ${describeToken(token)}`, offset, 'a message in { }');
      return { value: undefined, place: { offset, keyOffset } };
    }
    if (type.kind === 'any') return this.#any(offset, keyOffset);
    const faults = this.faults.length;
    const { value, entries } = this.#message(shape);
    const isWhole = type.kind === 'message' || this.faults.length === faults;
    return {
      value: isWhole ? plainOf(type, value) : undefined,
      place: plainPlaceOf(type, { offset, keyOffset, entries }),
    };
  }

  #message(shape: Shape | undefined, readEntry?: (open: Open) => void): Open {
    const end = this.#tokens.takeIf('<') ? '>' : '}';
    if (end === '}') this.#tokens.expect('{');
    if (++this.#depth > DEEPEST) this.#tokens.fail(`nested more than ${DEEPEST} messages deep`);
    const open = this.#open(shape);
    while (!this.#tokens.takeIf(end)) {
      if (this.#tokens.next.kind === 'end') this.#tokens.fail(`expected "${end}"`);
      if (readEntry) readEntry(open);
      else this.#entry(open);
    }
    this.#depth--;
    return open;
  }

  #any(offset: number, keyOffset: number | undefined): Parsed {
    let expanded: Parsed | undefined;
    const { value, entries } = this.#message(shapeOf({ kind: 'any' }), (open) => {
      if (this.#tokens.is('[')) expanded = this.#expansion(expanded, keyOffset);
      else this.#entry(open);
    });
    if (expanded) return { ...expanded, place: { ...expanded.place, offset, keyOffset } };
    const { any, faults } = readBinaryAny(this.#schema, value);
    for (const fault of faults) this.#fault(fault.message, offset, undefined, fault.path);
    return { value: any, place: { offset, keyOffset, entries } };
  }

  #expansion(before: Parsed | undefined, keyOffset: number | undefined): Parsed {
    const { offset } = this.#tokens.next;
    const url = this.#bracketed();
    if (before) this.#fault('holds two messages', offset, 'one');
    const type = typeOfEra(this.#schema, url);
    this.#tokens.takeIf(':');
    const inner = type ? this.#value(type, keyOffset) : this.#untyped(keyOffset);
    if (!this.#tokens.takeIf(',')) this.#tokens.takeIf(';');
    const entries = new Map<string, ValuePlace>([['@type', { offset, keyOffset: offset }]]);
    if (type && type.kind !== 'message') entries.set('value', inner.place);
    else for (const [name, place] of inner.place.entries ?? []) entries.set(name, place);
    return { value: plainAny(url, type, inner.value), place: { offset, keyOffset, entries } };
  }

  /** A field that no type is known of: the decoder names it, or upgrades it. */
  #strangeField(open: Open, name: string, keyOffset: number): void {
    if (!this.#tokens.takeIf(':') && !this.#tokens.is('{') && !this.#tokens.is('<'))
      this.#tokens.fail('expected ":"');
    const { value, place } = this.#untyped(keyOffset);
    const meant = open.shape?.fields.find((field) => camelCase(field.name) === name);
    if (open.shape && meant) {
      // JSON takes this spelling, and so would the decoder.
      const message = `unknown field of ${open.shape.name}`;
      const path = [...this.#path];
      this.faults.push({ path, message, offset: keyOffset, suggestion: meant.name });
      return;
    }
    const present = open.value[name];
    if (present === undefined) {
      setOwn(open.value, name, value);
      open.entries.set(name, place);
      return;
    }
    const first = open.entries.get(name) ?? place;
    const isList = first.items !== undefined && Array.isArray(present);
    setOwn(open.value, name, [...(isList ? (present as unknown[]) : [present]), value]);
    open.entries.set(name, { ...first, items: [...(first.items ?? [first]), place] });
  }

  #untyped(keyOffset: number | undefined): Parsed {
    const { offset } = this.#tokens.next;
    if (this.#tokens.is('{') || this.#tokens.is('<')) {
      const { value, entries } = this.#message(undefined);
      return { value, place: { offset, keyOffset, entries } };
    }
    if (!this.#tokens.is('[')) {
      const token = this.#single();
      const isNumber = token.kind === 'integer' || token.kind === 'real';
      return { value: isNumber ? numberOf(token) : token.text, place: { offset, keyOffset } };
    }
    if (++this.#depth > DEEPEST) this.#tokens.fail(`nested more than ${DEEPEST} messages deep`);
    const items: Parsed[] = [];
    this.#tokens.expect('[');
    this.#elements(() => items.push(this.#untyped(undefined)));
    this.#depth--;
    const value = items.map((item) => item.value);
    return { value, place: { offset, keyOffset, items: items.map(({ place }) => place) } };
  }

  #scalarOrEnum(type: ValueType): unknown {
    const next = this.#tokens.next;
    if (this.#tokens.is('{') || this.#tokens.is('<') || this.#tokens.is('[')) {
      const { value } = this.#untyped(undefined);
      const what = isObject(value) ? 'a message' : 'a list';
      return this.#fault(`found ${what}`, next.offset, expectedOf(type));
    }
    const token = this.#single();
    if (token.text === 'NULL_VALUE' && this.#path.at(-1) === 'null_value') return 0;
    const value = type.kind === 'scalar' ? scalarOf(type.scalar, token) : enumOf(type, token);
    if (value !== undefined) return value;
    return this.#fault(`found ${describeToken(token)}`, token.offset, expectedOf(type));
  }

  /** A value of one token, with its sign. */
  #single(): Token {
    const { offset } = this.#tokens.next;
    const isNegative = this.#tokens.takeIf('-');
    const token = this.#tokens.next;
    const isValue = token.kind !== 'symbol' && token.kind !== 'end';
    if (!isValue || (isNegative && token.kind === 'string')) this.#tokens.fail('expected a value');
    this.#tokens.take();
    return isNegative ? ({ ...token, text: `-${token.text}`, offset } as Token) : token;
  }

  #fault(message: string, offset: number, expected?: string, below: FieldPath = []): undefined {
    const path = [...this.#path, ...below];
    this.faults.push({ path, message, offset, ...(expected !== undefined && { expected }) });
  }
}

/** The list of a field and the places of its elements, made at its first element. */
function listOf(
  { value, entries }: Open,
  name: string,
  keyOffset: number,
): { readonly items: unknown[]; readonly places: ValuePlace[] } {
  const items = (value[name] ??= []) as unknown[];
  const place = entries.get(name) ?? { offset: keyOffset, keyOffset, items: [] };
  entries.set(name, place);
  return { items, places: place.items as ValuePlace[] };
}

function expectedOf(type: ValueType): string {
  if (type.kind === 'enum') return `one of ${[...type.type.numbers.keys()].join(', ')}`;
  if (type.kind !== 'scalar') return 'a message';
  return type.scalar === 'string' || type.scalar === 'bytes'
    ? 'a string in quotes'
    : describeScalar(type.scalar);
}

/** As JSON has the value; undefined where the token is none of this type. */
function scalarOf(scalar: Scalar, token: Token): unknown {
  switch (scalar) {
    case 'string':
      // Bytes that are no UTF-8 are taken, as in the real server.
      return token.kind === 'string' ? token.text : undefined;
    case 'bytes':
      return token.kind === 'string' ? Buffer.from(token.bytes).toString('base64') : undefined;
    case 'bool':
      if (/^(?:true|True|t|0*1|0[xX]0*1)$/.test(token.text) && token.kind !== 'string') return true;
      if (/^(?:false|False|f|0+|0[xX]0+)$/.test(token.text) && token.kind !== 'string')
        return false;
      return undefined;
    case 'double':
    case 'float':
      return token.kind === 'word' ? notFinite(token.text) : numberOf(token);
    default:
      return token.kind === 'integer' ? numberOf(token) : undefined;
  }
}

function enumOf(type: ValueType, token: Token): unknown {
  if (type.kind !== 'enum') return undefined;
  if (token.kind === 'integer') return numberOf(token);
  if (token.kind !== 'word') return undefined;
  // Unlike JSON, text wants the case to be right too.
  const meant = parseEnum(type.type, token.text);
  return meant === undefined || meant === token.text ? token.text : undefined;
}

function numberOf(token: Token): number | undefined {
  if (token.kind !== 'integer' && token.kind !== 'real') return undefined;
  const [, sign = '', digits = ''] = /^(-?)(.*)$/.exec(token.text) ?? [];
  if (token.kind === 'integer' && /^0\d/.test(digits)) {
    const octal = /^[0-7]+$/.test(digits) ? parseInt(digits, 8) : undefined;
    return octal === undefined ? undefined : sign === '' ? octal : -octal;
  }
  const number = Number(token.kind === 'real' ? digits.replace(/[fF]$/, '') : digits);
  return sign === '' ? number : -number;
}

function notFinite(word: string): string | undefined {
  if (/^-?nan$/i.test(word)) return 'NaN';
  const match = /^(-?)inf(?:inity)?$/i.exec(word);
  return match ? `${match[1]}Infinity` : undefined;
}

const camelCase = (name: string): string =>
  name.replace(/_+(.)/g, (_, letter: string) => letter.toUpperCase());
