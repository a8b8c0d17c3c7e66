// The words of the protobuf text format.

export type Token =
  | { readonly kind: 'word'; readonly text: string; readonly offset: number }
  | { readonly kind: 'integer'; readonly text: string; readonly offset: number }
  | { readonly kind: 'real'; readonly text: string; readonly offset: number }
  | {
      readonly kind: 'string';
      readonly text: string;
      readonly offset: number;
      /** Escapes may spell any bytes, also ones that are no text. */
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'symbol'; readonly text: string; readonly offset: number }
  | { readonly kind: 'end'; readonly text: ''; readonly offset: number };

export class TextFault extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

const BLANK = /(?:[ \t\r\n\v\f]+|#[^\n]*)*/y;
const WORD = /[A-Za-z_]\w*/y;
const REAL = /(?:\d+\.\d*|\.\d+|\d+(?=[eEfF]))(?:[eE][+-]?\d+)?[fF]?/y;
const INTEGER = /0[xX][\da-fA-F]+|\d+/y;
const PIECE = /[^\\'"\n\0]+/y;
const ESCAPE = /\\(?:([0-7]{1,3})|[xX]([\da-fA-F]{1,2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))/y;
const LETTERS: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  "'": 39,
  '?': 63,
  '\\': 92,
};

/** Reads one text, once, a token at a time; throws a TextFault. */
export class TextTokens {
  readonly #text: string;
  #at = 0;
  #next: Token;

  constructor(text: string) {
    this.#text = text;
    this.#next = this.#scan();
  }

  get next(): Token {
    return this.#next;
  }

  take(): Token {
    const token = this.#next;
    if (token.kind !== 'end') this.#next = this.#scan();
    return token;
  }

  is(symbol: string): boolean {
    return this.#next.kind === 'symbol' && this.#next.text === symbol;
  }

  takeIf(symbol: string): boolean {
    const isIt = this.is(symbol);
    if (isIt) this.take();
    return isIt;
  }

  expect(symbol: string): void {
    if (!this.takeIf(symbol)) this.fail(`expected "${symbol}"`);
  }

  fail(what: string, token: Token = this.#next): never {
    const found = token.kind === 'end' ? 'the text ends early' : `found ${describeToken(token)}`;
    throw new TextFault(`${found}, ${what}`, token.offset);
  }

  #scan(): Token {
    this.#match(BLANK);
    const offset = this.#at;
    const first = this.#text[offset];
    if (first === undefined) return { kind: 'end', text: '', offset };
    if (first === '"' || first === "'") return this.#strings(offset);
    const word = this.#match(WORD)?.[0];
    if (word !== undefined) return { kind: 'word', text: word, offset };
    const hexadecimal = first === '0' && /[xX]/.test(this.#text[offset + 1] ?? '');
    const real = hexadecimal ? undefined : this.#match(REAL)?.[0];
    if (real !== undefined) return { kind: 'real', text: real, offset };
    const integer = this.#match(INTEGER)?.[0];
    if (integer !== undefined) return { kind: 'integer', text: integer, offset };
    this.#at++;
    return { kind: 'symbol', text: first, offset };
  }

  /** Strings that follow each other are one. */
  #strings(offset: number): Token {
    const parts: Uint8Array[] = [];
    for (;;) {
      const quote = this.#text[this.#at];
      if (quote !== '"' && quote !== "'") break;
      this.#string(quote, parts);
      this.#match(BLANK);
    }
    const bytes = Buffer.concat(parts);
    return { kind: 'string', text: bytes.toString('utf8'), offset, bytes };
  }

  #string(quote: string, parts: Uint8Array[]): void {
    this.#at++;
    for (;;) {
      const piece = this.#match(PIECE)?.[0];
      if (piece !== undefined) parts.push(Buffer.from(piece));
      const character = this.#text[this.#at];
      if (character === '\\') {
        parts.push(this.#escape());
        continue;
      }
      if (character === undefined || character === '\n' || character === '\0')
        throw new TextFault('a string is not closed', this.#at);
      this.#at++;
      if (character === quote) return;
      parts.push(Buffer.from(character));
    }
  }

  #escape(): Uint8Array {
    const start = this.#at;
    const [, octal, hex, short, long, letter] = this.#match(ESCAPE) ?? [];
    const digits = short ?? long;
    if (digits !== undefined) {
      const point = parseInt(digits, 16);
      if (point > 0x10ffff) throw new TextFault('no character has this number', start);
      return Buffer.from(this.#character(point));
    }
    const byte =
      octal !== undefined
        ? parseInt(octal, 8)
        : hex !== undefined
          ? parseInt(hex, 16)
          : Object.hasOwn(LETTERS, letter ?? '')
            ? LETTERS[letter ?? '']
            : undefined;
    if (byte === undefined) throw new TextFault(`unknown escape \\${letter ?? octal ?? ''}`, start);
    // Of \400 to \777 the low eight bits count.
    return Uint8Array.of(byte & 0xff);
  }

  /** Two \u that are halves of a pair are one character. */
  #character(point: number): string {
    const isHighHalf = point >= 0xd800 && point < 0xdc00;
    const low = isHighHalf ? this.#match(/\\u([dD][c-fC-F][\da-fA-F]{2})/y)?.[1] : undefined;
    if (low === undefined) return String.fromCodePoint(point);
    return String.fromCharCode(point, parseInt(low, 16));
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match) this.#at = pattern.lastIndex;
    return match ?? undefined;
  }
}

const LONGEST_EXCERPT = 48;

export function describeToken(token: Token): string {
  if (token.kind === 'end') return 'nothing';
  const text =
    token.kind === 'integer' || token.kind === 'real' ? token.text : JSON.stringify(token.text);
  return text.length <= LONGEST_EXCERPT ? text : `${text.slice(0, LONGEST_EXCERPT)}…`;
}
