// build/schema.jsonl: a line that says what is in it, then a row for each enum and each message (see
// scripts/schema/table.mjs). A configuration needs few of the rows, so they are parsed one by one.
import type { Scalar } from './schema.js';
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
  readonly enums: number;
  readonly messages: number;
}

/** What stands before the name that a row opens with. */
const ROW_START = '["';

export class SchemaTable {
  readonly files: readonly string[];
  /** Full names of messages, by which their rows are counted. */
  readonly messages: readonly string[];
  readonly #enumLines: readonly string[];
  readonly #messageLines: readonly string[];

  constructor(text: string) {
    const lines = text.split('\n');
    const head = JSON.parse(lines[0] ?? '') as Head;
    const firstMessage = 1 + head.enums;
    this.files = head.files;
    this.#enumLines = lines.slice(1, firstMessage);
    this.#messageLines = lines.slice(firstMessage, firstMessage + head.messages);
    const start = ROW_START.length;
    this.messages = this.#messageLines.map((line) => line.slice(start, line.indexOf('"', start)));
  }

  messageRow(index: number): MessageRow {
    return parseRow<MessageRow>(this.#messageLines, index);
  }

  enumRow(index: number): EnumRow {
    return parseRow<EnumRow>(this.#enumLines, index);
  }
}

function parseRow<T>(lines: readonly string[], index: number): T {
  const line = lines[index];
  if (line === undefined) throw new Error(`the schema has no row ${index}`);
  return JSON.parse(line) as T;
}
