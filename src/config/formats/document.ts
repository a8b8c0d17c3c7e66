// A configuration as its format's reader gives it: a plain value, and where each part of it stands.
import type { Path, Position } from '../issue.js';

export interface Document {
  readonly value: unknown;
  /** The place of the value at `path`, or of the nearest part above it that exists. */
  locate(path: Path): Position | undefined;
}

/** The text is not the format. */
export interface FormatError {
  readonly message: string;
  readonly position?: Position;
}

export type ReadResult = { readonly document: Document } | { readonly error: FormatError };
