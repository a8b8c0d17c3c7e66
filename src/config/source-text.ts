import type { FieldPath } from './issues/field-path.js';
import type { Format, ReadResult } from './formats/format.js';
import type { Position } from './issues/issue.js';
import { countItems, findPlace, LineIndex, type ValuePlace } from './issues/value-position.js';

/**
 * A text in its format, with the places of what it says. They are looked up only when asked for.
 */
export class SourceText {
  readonly file: string;
  readonly #text: string;
  readonly #format: Format;
  readonly #type: string;
  #lines: LineIndex | undefined;
  #places: ValuePlace | undefined;
  #hasPlaces = false;
  #originOf: (path: FieldPath) => FieldPath = (path) => path;

  /** `type`: of the message that it should be. */
  constructor(file: string, text: string, format: Format, type: string) {
    this.file = file;
    this.#type = type;
    this.#text = text;
    this.#format = format;
  }

  read(): ReadResult {
    return this.#format.read(this.#text, this.#type);
  }

  /** Of a file that is no text, nobody can tell: it may always match. */
  mayMatch(test: (text: string) => boolean): boolean {
    return this.#format.encoding === 'bytes' || test(this.#text);
  }

  /** For a text that was rewritten: where what is at a path stood before. */
  useOrigins(originOf: (path: FieldPath) => FieldPath): void {
    this.#originOf = originOf;
  }

  /** Whether the format refuses fields that nobody knows, whatever else allows them. */
  get refusesUnknownFields(): boolean {
    return this.#format.refusesUnknownFields === true;
  }

  /** What a text that could not be read should have been, where its name misleads. */
  get hint(): string | undefined {
    const isNamedJson = this.#format.name !== 'JSON' || this.file.endsWith('.json');
    return isNamedJson ? undefined : 'JSON, since the name does not end in .yaml or .yml';
  }

  locate(
    path: FieldPath,
    part: 'key' | 'value' = 'value',
  ): { readonly position: Position; readonly isExact: boolean } | undefined {
    const places = this.#root();
    if (!places) return undefined;
    const { offset, isExact } = findPlace(places, this.#originOf(path), part);
    const position = this.positionOf(offset);
    return position && { position, isExact };
  }

  countItems(path: FieldPath): number {
    const places = this.#root();
    return places ? countItems(places, this.#originOf(path)) : 0;
  }

  /** Undefined where the file has no lines. */
  positionOf(offset: number): Position | undefined {
    if (this.#format.encoding === 'bytes') return undefined;
    this.#lines ??= new LineIndex(this.#text);
    return { file: this.file, ...this.#lines.position(offset) };
  }

  #root(): ValuePlace | undefined {
    if (!this.#hasPlaces) {
      this.#places = this.#format.places(this.#text, this.#type);
      this.#hasPlaces = true;
    }
    return this.#places;
  }
}
