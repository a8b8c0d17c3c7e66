// dist/schema.jsonl: a line that says what is in it, then a row for each enum and each message
// (scripts/schema/table.mjs). A configuration needs few of the rows, so they are parsed one by one.
import type { Scalar } from './scalar.js';
import type { FieldRules } from './rules.js';

export type EnumNote = 'deprecated' | 'disallowed';
export type EnumRow = [
  name: string,
  values: (string | [string, number])[],
  notes?: Record<string, EnumNote>,
];
export interface FieldExtra {
  readonly key?: Scalar;
  readonly oneof?: number;
  readonly rules?: FieldRules;
  readonly deprecated?: string;
}
export type FieldRow = [
  name: string,
  number: number,
  type: string | number,
  flags?: number,
  extra?: FieldExtra,
];
export type MessageRow = [
  name: string,
  file: number,
  fields: FieldRow[],
  oneofs?: [string, 1?][],
  previous?: string,
];

interface Head {
  readonly files: string[];
  /** Of messages. */
  readonly names: string[];
  /** Bytes of each row. */
  readonly enums: number[];
  readonly messages: number[];
}

const NEWLINE = 10;

export class SchemaTable {
  readonly files: readonly string[];
  /** Full names of messages, in the order of their rows. */
  readonly messages: readonly string[];
  readonly #bytes: Buffer;
  /** Where each row begins and, after the last one, where they end. */
  readonly #enums: readonly number[];
  readonly #messages: readonly number[];

  /** `bytes`: the file. It stays outside of the heap of V8, but for the rows that are asked for. */
  constructor(bytes: Buffer) {
    const end = bytes.indexOf(NEWLINE) + 1;
    const head = JSON.parse(bytes.toString('latin1', 0, end)) as Head;
    this.files = head.files;
    this.messages = head.names;
    this.#bytes = bytes;
    this.#enums = startsOf(head.enums, end);
    this.#messages = startsOf(head.messages, this.#enums.at(-1) ?? end);
  }

  messageRow(index: number): MessageRow {
    return this.#row(this.#messages, index) as MessageRow;
  }

  enumRow(index: number): EnumRow {
    return this.#row(this.#enums, index) as EnumRow;
  }

  #row(starts: readonly number[], index: number): unknown {
    const end = starts[index + 1];
    if (end === undefined) throw new Error(`the schema has no row ${index}`);
    return JSON.parse(this.#bytes.toString('latin1', starts[index], end));
  }
}

function startsOf(lengths: readonly number[], first: number): number[] {
  const starts = [first];
  for (const length of lengths) starts.push((first += length));
  return starts;
}
