// A format of configuration files: one file each beside this one.
import type { FieldPath } from '../issues/field-path.js';
import type { ValuePlace } from '../issues/value-position.js';

/** Why a text is not of the format. */
export interface Fault {
  readonly message: string;
  /** In UTF-16 units from the start of the text. */
  readonly offset: number;
}

/** What is wrong with one value of a text that could be read; the value is left out. */
export interface ValueFault extends Fault {
  readonly path: FieldPath;
  readonly expected?: string;
  readonly suggestion?: string;
  /** `error` unless given. */
  readonly severity?: 'warning';
}

export type ReadResult =
  | { readonly ok: true; readonly value: unknown; readonly faults?: readonly ValueFault[] }
  | { readonly ok: false; readonly fault: Fault };

export interface Format {
  readonly name: string;
  /**
   * What its bytes are: of UTF-8, bytes that are none are refused or read as U+FFFD; of `bytes`,
   * each is one character of the text.
   */
  readonly encoding: 'strict-utf8' | 'lenient-utf8' | 'bytes';
  /** Whether a byte order mark is no part of it. */
  readonly refusesByteOrderMark?: boolean;
  /** Whether fields that nobody knows are refused whatever the command line allows. */
  readonly refusesUnknownFields?: boolean;
  /**
   * Never throws. The value consists of plain objects, arrays, strings, numbers, booleans and null.
   * `type`: of the message that it should be, for formats that tell nothing without it; unless given,
   * a bootstrap.
   */
  read(text: string, type?: string): ReadResult;
  /** Of a text that could be read; undefined where nothing is known of its places. */
  places(text: string, type?: string): ValuePlace | undefined;
}
