// The table of every message that a configuration can hold (build/schema.json, generated).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../package-root.js';

/** A field. Keys are short because there are ten thousand of them. */
export interface FieldInfo {
  /** Its name, in snake_case. */
  readonly n: string;
  /** Its number. */
  readonly i: number;
  /** A scalar's name, or the full name of a message or enumeration. */
  readonly t: string;
  /** Its type is an enumeration. */
  readonly e?: 1;
  /** Its type is a message. */
  readonly m?: 1;
  /** Its type is a message that is not in the table. */
  readonly u?: 1;
  readonly r?: 1;
  /** A map with keys of this type. */
  readonly k?: string;
  /** The oneof that it belongs to. */
  readonly o?: string;
  /** Validation rules. */
  readonly v?: Readonly<Record<string, unknown>>;
  readonly d?: 1;
  readonly s?: 1;
}

export interface MessageInfo {
  readonly f: readonly FieldInfo[];
  /** Oneofs of which one member must be set. */
  readonly q?: readonly string[];
  /** What it was called in v2. */
  readonly p?: string;
}

interface Table {
  readonly messages: Readonly<Record<string, MessageInfo>>;
  readonly enums: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export class Schema {
  readonly #table: Table;
  readonly #fields = new Map<string, ReadonlyMap<string, FieldInfo>>();
  readonly #enumNames = new Map<string, ReadonlyMap<number, string>>();

  constructor(table: Table) {
    this.#table = table;
  }

  message(name: string): MessageInfo | undefined {
    return Object.hasOwn(this.#table.messages, name) ? this.#table.messages[name] : undefined;
  }

  messageNames(): string[] {
    return Object.keys(this.#table.messages);
  }

  /** Fields by both of their spellings: snake_case and lowerCamelCase. */
  fields(name: string): ReadonlyMap<string, FieldInfo> {
    let fields = this.#fields.get(name);
    if (!fields) {
      const made = new Map<string, FieldInfo>();
      for (const field of this.message(name)?.f ?? []) {
        made.set(field.n, field);
        made.set(camelCase(field.n), field);
      }
      fields = made;
      this.#fields.set(name, fields);
    }
    return fields;
  }

  /** Values by name. */
  enumValues(name: string): Readonly<Record<string, number>> {
    return this.#table.enums[name] ?? {};
  }

  enumNameOf(name: string, value: number): string | undefined {
    let names = this.#enumNames.get(name);
    if (!names) {
      const entries = Object.entries(this.enumValues(name)).map(([key, number]): [number, string] => [number, key]);
      // The first name of a number is the one that is shown.
      names = new Map(entries.reverse());
      this.#enumNames.set(name, names);
    }
    return names.get(value);
  }
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

let loaded: Schema | undefined;

/** The schema, read once. */
export function loadSchema(): Schema {
  loaded ??= new Schema(JSON.parse(readFileSync(join(packageRoot(), 'build', 'schema.json'), 'utf8')) as Table);
  return loaded;
}
