// A format of configuration files: one file each beside this one.
import type { ValuePlace } from '../value-position.js';
import { jsonFormat } from './json-format.js';
import { yamlFormat } from './yaml-format.js';

/** Why a text is not of the format. */
export interface Fault {
  readonly message: string;
  /** In UTF-16 units from the start of the text. */
  readonly offset: number;
}

export type ReadResult =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly fault: Fault };

export interface Format {
  readonly name: string;
  /** Whether bytes that are no UTF-8 are refused; otherwise they read as U+FFFD. */
  readonly isStrictUtf8: boolean;
  /**
   * Never throws. The value consists of plain objects, arrays, strings, numbers, booleans and null.
   */
  read(text: string): ReadResult;
  /** Of a text that could be read; undefined where nothing is known of its places. */
  places(text: string): ValuePlace | undefined;
}

/** Formats by the end of a file's name; any other name is JSON, as in Envoy. */
const BY_EXTENSION: ReadonlyMap<string, Format | Unsupported> = new Map<
  string,
  Format | Unsupported
>([
  ['.yaml', yamlFormat],
  ['.yml', yamlFormat],
  ['.json', jsonFormat],
  ['.pb', { unsupported: 'binary protobuf (.pb)' }],
  ['.pb_text', { unsupported: 'protobuf text (.pb_text)' }],
]);

export interface Unsupported {
  readonly unsupported: string;
}

export function formatOf(path: string): Format | Unsupported {
  const extension = /\.[^./]*$/.exec(path)?.[0] ?? '';
  return BY_EXTENSION.get(extension) ?? jsonFormat;
}
