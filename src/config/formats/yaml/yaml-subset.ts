// The YAML that nearly every bootstrap is written in, read some twenty times faster than in full:
// block mappings and lists, flow collections, plain and quoted scalars of one line, literal blocks,
// comments. Whatever else a text has (anchors, tags, folded blocks, scalars over several lines,
// tabs, anything wrong) makes the reader give up, and yaml-document.ts reads the text instead; so
// this never says of a text what the full reader would not.
import { setOwn, type PlainObject } from '../../values/objects.js';
import type { ReadResult } from '../format.js';
import { unescapeDouble } from './yaml-escape.js';
import { readLiteral } from './yaml-literal.js';
import { resolvePlain } from './yaml-scalar.js';

const DEEPEST = 200;
const DOCUMENT_START = '---\n';

// Tabs, carriage returns and control characters have rules of their own.
const UNUSUAL_CHARACTER = /[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]/;

const NEWLINE = 10;
const SPACE = 32;
const DOUBLE_QUOTE = 34;
const HASH = 35;
const SINGLE_QUOTE = 39;
const COMMA = 44;
const DASH = 45;
const COLON = 58;
const QUESTION = 63;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const PIPE = 124;
const OPEN_MAP = 123;
const CLOSE_MAP = 125;

// , [ ] { } # & * ! | > % @ ` " '
const INDICATORS = new Set([...',[]{}#&*!|>%@`"\''].map((each) => each.charCodeAt(0)));

/** Thrown and caught in this file only. */
class Unusual extends Error {}
const UNUSUAL = new Unusual('left to the full reader');

/** The value of the text, or undefined where it is not all of the usual kind. */
export function readSubset(text: string): ReadResult | undefined {
  if (UNUSUAL_CHARACTER.test(text)) return undefined;
  try {
    return { ok: true, value: new SubsetReader(text).document() };
  } catch (error) {
    if (error === UNUSUAL) return undefined;
    throw error;
  }
}

class SubsetReader {
  readonly #text: string;
  /** The character to read next. */
  #at = 0;
  #lineStart = 0;
  /** Spaces before the first word of the current line; -1 past the last line. */
  #indent = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): unknown {
    if (this.#text.startsWith(DOCUMENT_START)) {
      this.#at = DOCUMENT_START.length;
      this.#lineStart = this.#at;
    }
    this.#nextWord();
    if (this.#indent < 0) return null;
    const value = this.#block(-1);
    if (this.#indent >= 0) throw UNUSUAL;
    return value;
  }

  /** A value that begins at the current word, in a collection of that indent. */
  #block(parentIndent: number): unknown {
    if (++this.#depth > DEEPEST) throw UNUSUAL;
    const column = this.#at - this.#lineStart;
    let value: unknown;
    if (this.#isDash()) {
      value = this.#list(column);
    } else {
      const key = this.#key();
      if (key === undefined) {
        value = this.#inline(parentIndent);
        // A scalar may go on in the next line.
        if (this.#indent > parentIndent) throw UNUSUAL;
      } else {
        value = this.#mapping(column, key);
      }
    }
    this.#depth--;
    return value;
  }

  #mapping(column: number, firstKey: string): PlainObject {
    const mapping: PlainObject = {};
    let key: string | undefined = firstKey;
    while (key !== undefined) {
      setOwn(mapping, key, this.#entry(column));
      if (this.#indent < column) break;
      if (this.#indent > column || this.#isDash()) throw UNUSUAL;
      key = this.#key();
      if (key === undefined) throw UNUSUAL;
    }
    return mapping;
  }

  /** What follows a key and its colon. */
  #entry(column: number): unknown {
    if (!this.#isLineOver()) return this.#inline(column);
    this.#nextLine();
    if (this.#indent > column) return this.#block(column);
    // A list may stand under its key without an indent.
    if (this.#indent === column && this.#isDash()) return this.#list(column);
    return null;
  }

  #list(column: number): unknown[] {
    if (++this.#depth > DEEPEST) throw UNUSUAL;
    const list: unknown[] = [];
    do {
      if (this.#at - this.#lineStart !== column) throw UNUSUAL;
      this.#at++;
      if (!this.#isLineOver()) {
        list.push(this.#block(column));
      } else {
        this.#nextLine();
        list.push(this.#indent > column ? this.#block(column) : null);
      }
    } while (this.#indent >= column && this.#isDash());
    if (this.#indent > column) throw UNUSUAL;
    this.#depth--;
    return list;
  }

  /** A scalar or flow collection in this line, and the step to the next line. */
  #inline(parentIndent: number): unknown {
    const first = this.#text.charCodeAt(this.#at);
    if (first === PIPE) return this.#literal(parentIndent);
    let value: unknown;
    if (first === DOUBLE_QUOTE || first === SINGLE_QUOTE) value = this.#quoted(first);
    else if (first === OPEN_MAP || first === OPEN_LIST) value = this.#flow();
    else value = this.#plain();
    if (!this.#isLineOver()) throw UNUSUAL;
    this.#nextLine();
    if (this.#indent > parentIndent) throw UNUSUAL;
    return value;
  }

  /**
   * The key that begins here, with its colon; undefined, and nothing read, where there is none in
   * this line.
   */
  #key(): string | undefined {
    const start = this.#at;
    const first = this.#text.charCodeAt(start);
    if (first === DOUBLE_QUOTE || first === SINGLE_QUOTE) {
      const key = this.#quoted(first);
      this.#skipSpaces();
      if (this.#isColon(this.#at)) {
        this.#at++;
        return key;
      }
      this.#at = start;
      return undefined;
    }
    if (INDICATORS.has(first)) return undefined;
    if ((first === QUESTION || first === COLON) && this.#isBlank(start + 1)) throw UNUSUAL;
    const end = this.#endOfPlain();
    if (!this.#isColon(end)) return undefined;
    this.#at = end + 1;
    return plainKey(this.#text.slice(start, end).trimEnd());
  }

  #plain(): unknown {
    const start = this.#at;
    const first = this.#text.charCodeAt(start);
    if (INDICATORS.has(first)) throw UNUSUAL;
    if ((first === QUESTION || first === COLON || first === DASH) && this.#isBlank(start + 1))
      throw UNUSUAL;
    const end = this.#endOfPlain();
    if (this.#isColon(end)) throw UNUSUAL;
    this.#at = end;
    return resolvePlain(this.#text.slice(start, end).trimEnd());
  }

  /**
   * Where a plain scalar of a block ends: at a colon before a blank, a comment, or the end of the
   * line.
   */
  #endOfPlain(): number {
    const text = this.#text;
    for (let at = this.#at; ; at++) {
      const code = text.charCodeAt(at);
      if (code === COLON ? this.#isBlank(at + 1) : code === NEWLINE || at >= text.length) return at;
      if (code === HASH && text.charCodeAt(at - 1) === SPACE) return at;
    }
  }

  #quoted(quote: number): string {
    const text = this.#text;
    const start = this.#at + 1;
    let hasEscapes = false;
    for (let at = start; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === NEWLINE) break;
      if (code === quote) {
        if (quote === SINGLE_QUOTE && text.charCodeAt(at + 1) === SINGLE_QUOTE) {
          hasEscapes = true;
          at++;
          continue;
        }
        this.#at = at + 1;
        const content = text.slice(start, at);
        if (!hasEscapes) return content;
        return quote === SINGLE_QUOTE
          ? content.replaceAll("''", "'")
          : (unescapeDouble(content) ?? giveUp());
      }
      if (code === 92 && quote === DOUBLE_QUOTE) {
        hasEscapes = true;
        at++;
      }
    }
    throw UNUSUAL;
  }

  #flow(): unknown {
    if (++this.#depth > DEEPEST) throw UNUSUAL;
    const isMap = this.#text.charCodeAt(this.#at) === OPEN_MAP;
    const close = isMap ? CLOSE_MAP : CLOSE_LIST;
    const mapping: PlainObject = {};
    const list: unknown[] = [];
    this.#at++;
    for (;;) {
      this.#skipFlowSpace();
      if (this.#text.charCodeAt(this.#at) === close) break;
      if (isMap) this.#flowEntry(mapping);
      else list.push(this.#flowValue());
      this.#skipFlowSpace();
      const next = this.#text.charCodeAt(this.#at);
      if (next === COMMA) this.#at++;
      else if (next !== close) throw UNUSUAL;
    }
    this.#at++;
    this.#depth--;
    return isMap ? mapping : list;
  }

  #flowEntry(mapping: PlainObject): void {
    const first = this.#text.charCodeAt(this.#at);
    const isQuoted = first === DOUBLE_QUOTE || first === SINGLE_QUOTE;
    const key = isQuoted ? this.#quoted(first) : plainKey(this.#flowPlain());
    this.#skipSpaces();
    if (this.#text.charCodeAt(this.#at) !== COLON) throw UNUSUAL;
    // Only after a quoted key may the value follow the colon at once.
    if (!isQuoted && !this.#isBlank(this.#at + 1)) throw UNUSUAL;
    this.#at++;
    this.#skipFlowSpace();
    const next = this.#text.charCodeAt(this.#at);
    setOwn(mapping, key, next === COMMA || next === CLOSE_MAP ? null : this.#flowValue());
  }

  #flowValue(): unknown {
    const first = this.#text.charCodeAt(this.#at);
    if (first === OPEN_MAP || first === OPEN_LIST) return this.#flow();
    if (first === DOUBLE_QUOTE || first === SINGLE_QUOTE) return this.#quoted(first);
    return resolvePlain(this.#flowPlain());
  }

  #flowPlain(): string {
    const text = this.#text;
    const start = this.#at;
    const first = text.charCodeAt(start);
    if (INDICATORS.has(first) || first === QUESTION || first === COLON || first === DASH) {
      // Numbers below zero are the one thing that begins so and is usual.
      if (first !== DASH || !/[\d.]/.test(text[start + 1] ?? '')) throw UNUSUAL;
    }
    for (let at = start; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const isEnd = code === COMMA || code === CLOSE_LIST || code === CLOSE_MAP || code === NEWLINE;
      if (code === OPEN_LIST || code === OPEN_MAP || code === HASH) throw UNUSUAL;
      if (code === COLON && !isEnd && !this.#isBlank(at + 1)) {
        // `a:b` is one scalar, `a:,` is not.
        if (INDICATORS.has(text.charCodeAt(at + 1))) throw UNUSUAL;
        continue;
      }
      if (!isEnd && code !== COLON) continue;
      this.#at = at;
      return text.slice(start, at).trimEnd();
    }
    throw UNUSUAL;
  }

  #literal(parentIndent: number): string {
    const literal = readLiteral(this.#text, this.#at, parentIndent) ?? giveUp();
    this.#at = literal.end;
    this.#lineStart = literal.end;
    this.#nextWord();
    return literal.value;
  }

  /** Skips blanks and a comment; whether that was the rest of the line. */
  #isLineOver(): boolean {
    const before = this.#text.charCodeAt(this.#at - 1);
    const start = this.#at;
    this.#skipSpaces();
    const code = this.#text.charCodeAt(this.#at);
    if (this.#at >= this.#text.length || code === NEWLINE) return true;
    return code === HASH && (this.#at > start || before === SPACE);
  }

  #nextLine(): void {
    const newline = this.#text.indexOf('\n', this.#at);
    this.#at = newline < 0 ? this.#text.length : newline + 1;
    this.#lineStart = this.#at;
    this.#nextWord();
  }

  /** From the start of a line to the first word of it or of a later one. */
  #nextWord(): void {
    for (;;) {
      this.#skipSpaces();
      const code = this.#text.charCodeAt(this.#at);
      if (this.#at >= this.#text.length) {
        this.#indent = -1;
        return;
      }
      if (code !== NEWLINE && code !== HASH) break;
      const newline = this.#text.indexOf('\n', this.#at);
      this.#at = newline < 0 ? this.#text.length : newline + 1;
      this.#lineStart = this.#at;
    }
    this.#indent = this.#at - this.#lineStart;
    // Directives and the marks between documents.
    if (this.#indent === 0 && /^(?:---|\.\.\.|%)/.test(this.#text.slice(this.#at, this.#at + 3)))
      throw UNUSUAL;
  }

  #skipSpaces(): void {
    while (this.#text.charCodeAt(this.#at) === SPACE) this.#at++;
  }

  #skipFlowSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === HASH) {
        if (!this.#isBlank(this.#at - 1)) throw UNUSUAL;
        const newline = this.#text.indexOf('\n', this.#at);
        if (newline < 0) throw UNUSUAL;
        this.#at = newline;
      } else if (code === NEWLINE) {
        this.#lineStart = this.#at + 1;
        this.#at++;
      } else if (code === SPACE) {
        this.#at++;
      } else {
        return;
      }
    }
  }

  #isDash(): boolean {
    return this.#text.charCodeAt(this.#at) === DASH && this.#isBlank(this.#at + 1);
  }

  #isColon(at: number): boolean {
    return this.#text.charCodeAt(at) === COLON && this.#isBlank(at + 1);
  }

  #isBlank(at: number): boolean {
    const code = this.#text.charCodeAt(at);
    return code === SPACE || code === NEWLINE || at >= this.#text.length;
  }
}

function giveUp(): never {
  throw UNUSUAL;
}

/** A key that is nothing reads as this word, as in the real server. */
const plainKey = (text: string): string => (resolvePlain(text) === null ? 'null' : text);
