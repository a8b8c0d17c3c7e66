// Where RE2 reads a pattern otherwise than re2js: the pattern in words that both read alike.
import type { Encoding } from './byte-program.js';
import type { Failure } from './re2js.js';

/** The pattern as RE2 sees it for Latin-1: one character for each byte of it. */
export function byteString(pattern: string): string {
  return Buffer.from(pattern).toString('latin1');
}

/**
 * For Latin-1 RE2 ignores the case of ASCII letters only; re2js would fold the bytes of others.
 * Undefined: it makes no difference. (Inside a set re2js's folding stays.)
 */
export function asciiFolding(source: string): string | undefined {
  if (!/\(\?[a-zA-Z]*i/.test(source)) return undefined;
  const other = rewrite(source, (text) =>
    /^(?:[\x80-\xff]|\\x[89a-fA-F][0-9a-fA-F])$/.test(text) ? `(?-i:${text})` : text,
  );
  return other === source ? undefined : other;
}

/** For Latin-1 there is no character beyond \xff; re2js knows no such limit. */
export function wideEscape(source: string): Failure | undefined {
  for (const { text } of tokens(source)) {
    if (text.startsWith('\\Q')) continue;
    for (const [escape, digits] of text.matchAll(/\\(?:x\{([0-9a-fA-F]+)\}|[^])/g)) {
      if (digits === undefined || Number.parseInt(digits, 16) <= 0xff) continue;
      // RE2 names it as far as it read.
      const zeros = /^0*/.exec(digits)![0].length;
      return { error: 'invalid escape sequence', input: escape.slice(0, 3 + zeros + 3) };
    }
  }
  return undefined;
}

/**
 * After a failure: the same pattern without what re2js refuses and RE2 takes. RE2 lets two groups
 * have one name, and knows \C, any byte. Undefined: RE2 refuses it as well.
 */
export function relaxed(source: string, encoding: Encoding, failure: Failure): string | undefined {
  let other = source;
  if (failure.error === 'duplicate capture group name') {
    other = rewrite(source, (text) => (/^\(\?P?<\w+>$/u.test(text) ? '(' : text));
  } else if (failure.error === 'invalid escape sequence' && failure.input === '\\C') {
    // In UTF-8 it could split a character, which re2js cannot say.
    if (encoding === 'latin1')
      other = rewrite(source, (text) => (text === '\\C' ? '(?s:.)' : text));
  }
  return other === source ? undefined : other;
}

function rewrite(source: string, change: (text: string) => string): string {
  return tokens(source)
    .map(({ text }) => change(text))
    .join('');
}

export interface Token {
  readonly text: string;
  readonly at: number;
}

const TOKEN = new RegExp(
  [
    '\\\\Q[^]*?(?:\\\\E|$)',
    '\\\\x(?:[0-9a-fA-F]{2}|\\{[0-9a-fA-F]*\\}?)|\\\\[pP](?:\\{\\^?\\w*\\}?|[^])|\\\\[^]',
    '\\[\\^?\\]?(?:\\[:\\w+:\\]|\\\\[^]|[^\\]\\\\])*(?:\\]|$)',
    '\\(\\?P?<[^(>]*>|\\(\\?',
    '[^]',
  ].join('|'),
  'gu',
);

/** Escapes, sets, openings of groups, and characters. */
export function tokens(pattern: string): Token[] {
  return Array.from(pattern.matchAll(TOKEN), (match) => ({ text: match[0], at: match.index }));
}
