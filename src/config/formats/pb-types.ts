// The messages of the schema for protobufjs, which reads their bytes. By itself it throws away what came
// before a fault, and does not say where in which field the fault is: a Trace is told of each message and
// field, and keeps both.
import type * as Protobuf from 'protobufjs/light.js';
import { protobufjs } from '../../base/late-modules.js';
import type { Schema, ValueType } from '../schema/schema.js';
import type { PlainObject } from '../values/objects.js';
import { removedFields } from './v2-fields.js';
import { entryShape, shapeOf, type Field, type Shape } from './well-known.js';

/** Fields by name, as protobufjs reads them; a map is a list of its entries. */
export interface WireMessage extends PlainObject {
  /** The fields that nobody knows, each with its tag. */
  readonly $unknowns?: readonly Uint8Array[];
}

/** Why bytes are no message, and where. */
export interface WireFault {
  readonly message: string;
  readonly offset: number;
  readonly path: readonly (string | number)[];
}

export interface WireResult {
  /** Of bytes that go wrong, what came before. */
  readonly message: WireMessage;
  readonly fault: WireFault | undefined;
}

/** A message that is being read. */
interface Level {
  readonly known: KnownType;
  readonly message: WireMessage;
  /** Of the field that is being read; 0: none. */
  tag: number;
  /** Where its value begins. */
  valueAt: number;
}

/** A reader that tells which field comes next. */
type TracedReader = Protobuf.Reader & { readonly trace: Trace };

/** How values are written: as varints, in 64 bits, with their length, in 32 bits. */
const VALUE_TYPES = new Set([0, 1, 2, 5]);

class Trace {
  readonly levels: Level[] = [];
  fault: WireFault | undefined;

  path(): (string | number)[] {
    return this.levels.flatMap(({ known, message, tag }): readonly (string | number)[] => {
      const field = known.fields.get(tag >>> 3);
      // A group is no field of ours, and neither is what cannot be.
      if (!field || !VALUE_TYPES.has(tag & 7)) return [];
      if (known.isEntry) return field.name === 'value' ? [String(message['key'])] : [];
      if (field.label !== 'many') return [field.name];
      return [field.name, (message[field.name] as readonly unknown[]).length];
    });
  }
}

interface KnownType {
  readonly fields: ReadonlyMap<number, Field>;
  readonly isEntry: boolean;
}

/** Explicit presence, open enums, texts of UTF-8 alone. */
const EDITION = '2023';

/** The messages that were needed so far. */
export class WireTypes {
  readonly #schema: Schema;
  readonly #root: Protobuf.Root;
  readonly #types = new Map<string, Protobuf.Type>();

  constructor(schema: Schema) {
    this.#schema = schema;
    this.#root = new (protobufjs().Root)();
  }

  /** `depth`: how many messages it is in. */
  read(shape: Shape, name: string, bytes: Buffer, depth: number): WireResult {
    const type = this.#typeOf(shape, name, false);
    const trace = new Trace();
    const reader = protobufjs().Reader.create(bytes);
    const { tag } = reader;
    const traced: TracedReader = Object.assign(reader, {
      trace,
      discardUnknown: false,
      tag: () => {
        const level = trace.levels.at(-1);
        if (level) level.tag = 0;
        const value = tag.call(reader);
        if (level) {
          level.tag = value;
          level.valueAt = reader.pos;
        }
        return value;
      },
    });
    const decode = type.decode.bind(type) as unknown as Decode;
    const message = decode(traced, undefined, undefined, depth);
    return { message, fault: trace.fault };
  }

  #typeOf(shape: Shape, name: string, isEntry: boolean): Protobuf.Type {
    const before = this.#types.get(name);
    if (before) return before;
    const fields = Array.from(fieldsOf(this.#schema, shape).values(), ({ field }) => field);
    const own = ownName(name);
    const known = { fields: new Map(fields.map((field) => [field.number, field])), isEntry };
    const type = protobufjs().Type.fromJSON(own, {
      edition: EDITION,
      fields: Object.fromEntries(fields.map((field) => [field.name, describe(field, name)])),
      oneofs: oneofsOf(fields),
    });
    this.#types.set(name, type);
    this.#root.add(type);
    const { setup } = type;
    // Called once, by the first message of the type.
    type.setup = () => {
      for (const field of fields) this.#declareTypeOf(field, name);
      setup.call(type);
      type.decode = traced(type, known) as unknown as typeof type.decode;
      return type;
    };
    return type;
  }

  #declareTypeOf(field: Field, message: string): void {
    if (field.label === 'map') {
      this.#typeOf(entryShape(field), entryName(field, message), true);
      return;
    }
    const shape = shapeOf(field.value);
    if (shape) this.#typeOf(shape, nameOf(field.value), false);
  }
}

/** How the code that protobufjs makes for a type is called, by itself too. */
type Decode = (
  reader: TracedReader,
  length: number | undefined,
  endTag: number | undefined,
  depth: number | undefined,
  before?: WireMessage,
) => WireMessage;

/** After a fault nothing more is read, and what was read is kept. */
function traced(type: Protobuf.Type, known: KnownType): Decode {
  const decode = type.decode as unknown as Decode;
  return (reader, length, endTag, depth, before) => {
    const message = before ?? (new type.ctor() as unknown as WireMessage);
    const { levels } = reader.trace;
    levels.push({ known, message, tag: 0, valueAt: reader.pos });
    // Of a message that the end of the bytes cuts there is what is before it.
    const rest = reader.len - reader.pos;
    const isCut = length !== undefined && length > rest;
    try {
      decode(reader, isCut ? rest : length, endTag, depth, message);
      if (isCut) throw new RangeError('the message ends early');
      return message;
    } catch (error) {
      reader.trace.fault ??= faultOf(error, reader);
      // The messages around it end, too.
      reader.pos = reader.buf.length;
      return message;
    } finally {
      levels.pop();
    }
  };
}

const NO_UTF8 = 'ERR_ENCODING_INVALID_ENCODED_DATA';
const TOO_LONG = 'a number is too long';
/** What protobufjs says of bytes that do not end early, by how it begins. */
const WORDS: readonly (readonly [start: string, words: string])[] = [
  ['max depth exceeded', 'nested more than 100 messages deep'],
  ['illegal tag', 'no field has this number'],
  ['invalid wire type', 'there is no such wire type'],
  ['invalid tag', TOO_LONG],
  ['invalid varint', TOO_LONG],
  ['invalid length', TOO_LONG],
  ['invalid end group', 'a group ends that did not begin'],
];

function faultOf(error: unknown, { trace, pos }: TracedReader): WireFault {
  if (!(error instanceof Error)) throw error;
  const path = trace.path();
  if ('code' in error && error.code === NO_UTF8)
    return { message: 'a string is no UTF-8', offset: trace.levels.at(-1)?.valueAt ?? 0, path };
  if (error instanceof RangeError) return { message: 'the bytes end early', offset: pos, path };
  const [, message] = WORDS.find(([start]) => error.message.startsWith(start)) ?? [];
  // A bug of our own.
  if (message === undefined) throw error;
  return { message, offset: pos, path };
}

interface PlacedField {
  readonly field: Field;
  /** Among those of its type. */
  readonly place: number;
}

/** By their names. */
type Fields = ReadonlyMap<string, PlacedField>;

const fieldsByShape = new WeakMap<Shape, Fields>();

/** Those that v2 had, too, where v3 has no other of their number. */
function fieldsOf(schema: Schema, shape: Shape): Fields {
  const known = fieldsByShape.get(shape);
  if (known) return known;
  const numbers = new Set(shape.fields.map(({ number }) => number));
  const removed = removedFields(schema, shape.name).filter(({ number }) => !numbers.has(number));
  const all = [...shape.fields, ...removed];
  const fields = new Map(all.map((field, place) => [field.name, { field, place }]));
  fieldsByShape.set(shape, fields);
  return fields;
}

/** Those that a message has, in the order of its type, whatever that of its bytes. */
export function fieldsIn(wire: WireMessage, schema: Schema, shape: Shape): readonly PlacedField[] {
  const fields = fieldsOf(schema, shape);
  const present: PlacedField[] = [];
  let isSorted = true;
  for (const name of Object.keys(wire)) {
    const value = wire[name];
    // protobufjs has a list for each repeated field.
    if (Array.isArray(value) && value.length === 0) continue;
    const field = fields.get(name);
    if (!field) continue;
    const last = present.at(-1);
    if (last && last.place > field.place) isSorted = false;
    present.push(field);
  }
  return isSorted ? present : present.sort((one, other) => one.place - other.place);
}

function describe(field: Field, message: string): Protobuf.IField {
  const id = field.number;
  if (field.label === 'map')
    return { id, rule: 'repeated', type: ownName(entryName(field, message)) };
  const type = shapeOf(field.value) ? ownName(nameOf(field.value)) : scalarOf(field.value);
  return field.label === 'many' ? { id, rule: 'repeated', type } : { id, type };
}

function oneofsOf(fields: readonly Field[]): Record<string, { oneof: string[] }> {
  const oneofs: Record<string, { oneof: string[] }> = {};
  for (const { name, oneofIndex } of fields) {
    if (oneofIndex === undefined) continue;
    (oneofs[`__oneof${oneofIndex}`] ??= { oneof: [] }).oneof.push(name);
  }
  return oneofs;
}

const scalarOf = (type: ValueType): string => (type.kind === 'scalar' ? type.scalar : 'int32');

/** A name of each type of message. */
export function nameOf(type: ValueType): string {
  if (type.kind === 'message') return type.type.name;
  return type.kind === 'scalar' ? `wrapper.${type.scalar}` : `google.protobuf.${type.kind}`;
}

const entryName = (map: Field, message: string): string => `${message}.${map.name}.entry`;

/** Names of types have no dots. */
const ownName = (name: string): string => name.replaceAll('.', '__');
