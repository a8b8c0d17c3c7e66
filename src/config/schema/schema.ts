// Envoy's messages and enums as dist/schema.jsonl lists them. A type is built when it is
// first asked for.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../base/package-root.js';
import type { FieldRules } from './rules.js';
import {
  SchemaTable,
  type EnumNote,
  type EnumRow,
  type FieldRow,
  type MessageRow,
} from './schema-table.js';
import type { Scalar } from './scalar.js';
import { nearestName } from '../../base/suggest.js';

/** What a field holds, or each element of a list or value of a map. */
export type ValueType =
  | { readonly kind: 'scalar'; readonly scalar: Scalar; readonly wrapper: boolean }
  | { readonly kind: 'enum'; readonly type: EnumType }
  | { readonly kind: 'message'; readonly type: MessageType }
  | { readonly kind: WellKnownKind };

export type WellKnownKind =
  'duration' | 'timestamp' | 'any' | 'struct' | 'value' | 'list' | 'mask' | 'empty';

// Bits of a field's flags; scripts/schema/table.mjs has the same.
const REPEATED = 1;
const MAP = 2;
const PRESENCE = 4;
const SENSITIVE = 8;
const HIDDEN = 16;
const DISALLOWED = 32;

const GOOGLE = 'google.protobuf.';
const WRAPPERS: Readonly<Record<string, Scalar>> = {
  DoubleValue: 'double',
  FloatValue: 'float',
  Int64Value: 'int64',
  UInt64Value: 'uint64',
  Int32Value: 'int32',
  UInt32Value: 'uint32',
  BoolValue: 'bool',
  StringValue: 'string',
  BytesValue: 'bytes',
};
const WELL_KNOWN: Readonly<Record<string, WellKnownKind>> = {
  Any: 'any',
  Duration: 'duration',
  Timestamp: 'timestamp',
  FieldMask: 'mask',
  Empty: 'empty',
  Struct: 'struct',
  Value: 'value',
  ListValue: 'list',
};

export class EnumType {
  readonly name: string;
  readonly numbers: ReadonlyMap<string, number>;
  /** The first name of each number. */
  readonly names: ReadonlyMap<number, string>;
  readonly #notes: Readonly<Record<string, EnumNote>>;

  constructor([name, values, notes]: EnumRow) {
    this.name = name;
    this.#notes = notes ?? {};
    const pairs = values.map((value, index): [string, number] =>
      typeof value === 'string' ? [value, index] : value,
    );
    this.numbers = new Map(pairs);
    this.names = new Map(pairs.toReversed().map(([value, number]) => [number, value]));
  }

  note(value: string): EnumNote | undefined {
    return this.#notes[value];
  }
}

export interface OneofType {
  readonly name: string;
  /** Whether one of its fields must be set. */
  readonly required: boolean;
  readonly fields: readonly FieldType[];
}

/** Reads its row when asked: a message has many fields, and a configuration sets few of them. */
export class FieldType {
  readonly name: string;
  readonly message: MessageType;
  readonly rules: FieldRules | undefined;
  readonly #row: FieldRow;
  readonly #schema: Schema;
  #value: ValueType | undefined;

  constructor(row: FieldRow, message: MessageType, schema: Schema) {
    this.name = row[0];
    this.message = message;
    this.rules = row[4]?.rules;
    this.#row = row;
    this.#schema = schema;
  }

  /** lowerCamelCase, the other name that JSON may use. */
  get jsonName(): string {
    return this.name.replace(/_+(.|$)/g, (_, letter: string) => letter.toUpperCase());
  }

  get number(): number {
    return this.#row[1];
  }

  get label(): 'one' | 'many' | 'map' {
    return this.#has(MAP) ? 'map' : this.#has(REPEATED) ? 'many' : 'one';
  }

  get keyType(): Scalar | undefined {
    return this.#row[4]?.key;
  }

  /** Whether unset differs from the default. */
  get presence(): boolean {
    return this.#has(PRESENCE);
  }

  get sensitive(): boolean {
    return this.#has(SENSITIVE);
  }

  /** Accepted and without effect in Envoy. */
  get hidden(): boolean {
    return this.#has(HIDDEN);
  }

  get deprecated(): boolean {
    return this.#row[4]?.deprecated !== undefined;
  }

  /** Deprecated so long that Envoy refuses it. */
  get disallowed(): boolean {
    return this.#has(DISALLOWED);
  }

  get oneof(): OneofType | undefined {
    const index = this.oneofIndex;
    return index === undefined ? undefined : this.message.oneofs[index];
  }

  get oneofIndex(): number | undefined {
    return this.#row[4]?.oneof;
  }

  get value(): ValueType {
    return (this.#value ??= this.#schema.valueType(this.#row[2]));
  }

  #has(flag: number): boolean {
    return ((this.#row[3] ?? 0) & flag) !== 0;
  }
}

export class MessageType {
  readonly name: string;
  /** The .proto file, as `envoy/config/core/v3/address.proto`. */
  readonly file: string;
  /** In the order of their numbers. */
  readonly fields: readonly FieldType[];
  readonly oneofs: readonly OneofType[];
  /** The v2 message this one came from. */
  readonly previous: string | undefined;
  readonly #byName: ReadonlyMap<string, FieldType>;
  #byJsonName: ReadonlyMap<string, FieldType> | undefined;

  constructor([name, file, fields, oneofs = [], previous]: MessageRow, schema: Schema) {
    this.name = name;
    this.file = schema.files[file] ?? '';
    this.fields = fields.map((row) => new FieldType(row, this, schema));
    this.previous = previous;
    this.#byName = new Map(this.fields.map((field) => [field.name, field]));
    this.oneofs = oneofs.map(([oneof, required], index) => ({
      name: oneof,
      required: required === 1,
      fields: this.fields.filter((field) => field.oneofIndex === index),
    }));
  }

  /** By its name in the .proto file or in lowerCamelCase. */
  field(name: string): FieldType | undefined {
    return this.#byName.get(name) ?? this.#fieldsByJsonName().get(name);
  }

  #fieldsByJsonName(): ReadonlyMap<string, FieldType> {
    return (this.#byJsonName ??= new Map(this.fields.map((field) => [field.jsonName, field])));
  }
}

export class Schema {
  readonly files: readonly string[];
  readonly #table: SchemaTable;
  readonly #indexOf: ReadonlyMap<string, number>;
  readonly #messages: (MessageType | undefined)[] = [];
  readonly #enums: (EnumType | undefined)[] = [];
  #successors: ReadonlyMap<string, string> | undefined;

  constructor(file: Buffer) {
    this.#table = new SchemaTable(file);
    this.files = this.#table.files;
    this.#indexOf = new Map(this.#table.messages.map((name, index) => [name, index]));
  }

  /** By full name, such as `envoy.config.cluster.v3.Cluster`. */
  findMessage(name: string): MessageType | undefined {
    const index = this.#indexOf.get(name);
    return index === undefined ? undefined : this.#messageAt(index);
  }

  /** For names that the code itself spells. */
  getMessage(name: string): MessageType {
    const type = this.findMessage(name);
    if (!type) throw new Error(`no message ${name} in the schema`);
    return type;
  }

  messageNames(): Iterable<string> {
    return this.#indexOf.keys();
  }

  /** The v3 form of a v2 name. */
  successorOf(name: string): string | undefined {
    this.#successors ??= new Map(
      this.#table.messages.flatMap((current, index): [string, string][] => {
        const [, , , , previous] = this.#table.messageRow(index);
        return previous === undefined ? [] : [[previous, current]];
      }),
    );
    return this.#successors.get(name);
  }

  /**
   * The message that was most likely meant: the v3 form of a v2 name, or one of nearly this name.
   */
  nearestMessage(name: string): string | undefined {
    const successor = this.successorOf(name);
    if (successor !== undefined) return successor;
    const near = nearestName(name, this.#indexOf.keys());
    if (near !== undefined) return near;
    if (!name.startsWith('envoy.')) return undefined;
    const suffix = name.slice(name.lastIndexOf('.'));
    const sameEnd = [...this.#indexOf.keys()].filter((candidate) => candidate.endsWith(suffix));
    return sameEnd.length === 1 ? sameEnd[0] : undefined;
  }

  /** What a value of this full name is, where an Any holds one. */
  valueTypeOf(name: string): ValueType | undefined {
    const index = this.#indexOf.get(name);
    return index === undefined ? undefined : this.valueType(index);
  }

  /** A scalar's name, a message's index, or an enum's index inverted. */
  valueType(type: string | number): ValueType {
    if (typeof type === 'string') return { kind: 'scalar', scalar: type as Scalar, wrapper: false };
    if (type < 0) return { kind: 'enum', type: this.#enumAt(~type) };
    const name = this.#table.messages[type] ?? '';
    if (name.startsWith(GOOGLE)) {
      const short = name.slice(GOOGLE.length);
      const scalar = WRAPPERS[short];
      if (scalar) return { kind: 'scalar', scalar, wrapper: true };
      const kind = WELL_KNOWN[short];
      if (kind) return { kind };
    }
    return { kind: 'message', type: this.#messageAt(type) };
  }

  #messageAt(index: number): MessageType {
    return (this.#messages[index] ??= new MessageType(this.#table.messageRow(index), this));
  }

  #enumAt(index: number): EnumType {
    return (this.#enums[index] ??= new EnumType(this.#table.enumRow(index)));
  }
}

let loaded: Schema | undefined;

/** The one schema of the process, read at its first use. */
export function schema(): Schema {
  return (loaded ??= new Schema(readFileSync(join(packageRoot(), 'dist', 'schema.jsonl'))));
}
