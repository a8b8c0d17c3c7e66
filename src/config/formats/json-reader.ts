import { describeValue, setOwn, type PlainObject } from '../values/objects.js';
import type { ValuePlace } from '../issues/value-position.js';
import type { ReadResult } from './format.js';

const DEEPEST = 300;
const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z_$][\w$]*/y;
const UNPAIRED = 'a \\u is half of a character';
const isHigh = (unit: string): boolean => unit >= '\ud800' && unit <= '\udbff';
const isLow = (unit: string): boolean => unit >= '\udc00' && unit <= '\udfff';
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

class JsonFault extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

interface Parsed {
  readonly value: unknown;
  readonly place: ValuePlace;
}

/** Reads one text, once: its value and where each part of it stands. */
export class JsonReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): ReadResult {
    try {
      return { ok: true, value: this.#document().value };
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      return { ok: false, fault: { message: error.message, offset: error.offset } };
    }
  }

  places(): ValuePlace | undefined {
    try {
      return this.#document().place;
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      return undefined;
    }
  }

  #document(): Parsed {
    const parsed = this.#value(undefined);
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail('something follows the end of the value');
    return parsed;
  }

  #value(keyOffset: number | undefined): Parsed {
    this.#skipSpace();
    const offset = this.#at;
    const first = this.#text[offset];
    if (first === '{') return this.#nested(() => this.#object(offset, keyOffset));
    if (first === '[') return this.#nested(() => this.#array(offset, keyOffset));
    const value = first === '"' || first === "'" ? this.#string(first) : this.#literal();
    return { value, place: { offset, keyOffset } };
  }

  #nested(read: () => Parsed): Parsed {
    if (++this.#depth > DEEPEST) this.#fail('is nested too deeply');
    const parsed = read();
    this.#depth--;
    return parsed;
  }

  #object(offset: number, keyOffset: number | undefined): Parsed {
    const value: PlainObject = {};
    const entries = new Map<string, ValuePlace>();
    this.#elements('}', () => {
      const start = this.#at;
      const key = this.#key();
      this.#skipSpace();
      if (this.#text[this.#at] !== ':') this.#fail('expected ":" after the key');
      this.#at++;
      const parsed = this.#value(start);
      setOwn(value, key, parsed.value);
      entries.set(key, parsed.place);
    });
    return { value, place: { offset, keyOffset, entries } };
  }

  #array(offset: number, keyOffset: number | undefined): Parsed {
    const value: unknown[] = [];
    const items: ValuePlace[] = [];
    this.#elements(']', () => {
      const parsed = this.#value(undefined);
      value.push(parsed.value);
      items.push(parsed.place);
    });
    return { value, place: { offset, keyOffset, items } };
  }

  #elements(end: string, readOne: () => void): void {
    this.#at++;
    for (;;) {
      this.#skipSpace();
      if (this.#text[this.#at] === end) break;
      readOne();
      this.#skipSpace();
      const next = this.#text[this.#at];
      if (next === ',') this.#at++;
      else if (next !== end) this.#fail(`expected "," or "${end}"`);
    }
    this.#at++;
  }

  #key(): string {
    const first = this.#text[this.#at];
    if (first === '"' || first === "'") return this.#string(first);
    return this.#match(WORD) ?? this.#fail('expected a key');
  }

  #literal(): unknown {
    const number = this.#match(NUMBER);
    if (number !== undefined) return Number(number);
    const start = this.#at;
    const word = this.#match(WORD);
    if (word === 'true') return true;
    if (word === 'false') return false;
    if (word === 'null') return null;
    this.#at = start;
    const [line = ''] = this.#text.slice(start).split('\n', 1);
    return this.#fail(`expected a value, found ${describeValue(line.trimEnd())}`);
  }

  #string(quote: string): string {
    const text = this.#text;
    let at = this.#at + 1;
    let value = '';
    for (let from = at; ; at++) {
      const character = text[at];
      if (character === quote) {
        this.#at = at + 1;
        return value + text.slice(from, at);
      }
      if (character === undefined) {
        this.#at = at;
        this.#fail('a string is not closed');
      }
      if (character !== '\\') continue;
      value += text.slice(from, at);
      this.#at = at;
      value += this.#escape();
      at = this.#at - 1;
      from = this.#at;
    }
  }

  #escape(): string {
    const letter = this.#text[this.#at + 1] ?? '';
    if (letter === 'u') {
      const first = this.#unit();
      if (isHigh(first) && !this.#text.startsWith('\\u', this.#at)) this.#fail(UNPAIRED);
      const second = isHigh(first) ? this.#unit() : '';
      if (isLow(second || first) !== isHigh(first)) this.#fail(UNPAIRED);
      return first + second;
    }
    const character = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined;
    if (character === undefined) this.#fail(`unknown escape \\${letter}`);
    this.#at += 2;
    return character ?? '';
  }

  /** Of "\u00e9". */
  #unit(): string {
    const digits = this.#text.slice(this.#at + 2, this.#at + 6);
    if (!/^[\da-fA-F]{4}$/.test(digits)) this.#fail('expected four hexadecimal digits after \\u');
    this.#at += 6;
    return String.fromCharCode(parseInt(digits, 16));
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match) this.#at = pattern.lastIndex;
    return match?.[0];
  }

  #skipSpace(): void {
    this.#match(SPACE);
  }

  #fail(what: string): never {
    const isEnd = this.#at >= this.#text.length;
    throw new JsonFault(`is no JSON: ${isEnd ? 'the text ends early' : what}`, this.#at);
  }
}
