const ESCAPE = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.?))/gs;
const LETTERS: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
};

/** The text inside of double quotes, on one line; undefined where an escape is not of YAML. */
export function unescapeDouble(content: string): string | undefined {
  let isValid = true;
  const text = content.replace(
    ESCAPE,
    (_, x?: string, u?: string, long?: string, letter?: string) => {
      const hexadecimal = x ?? u ?? long;
      if (hexadecimal !== undefined) {
        const code = parseInt(hexadecimal, 16);
        if (code <= 0x10ffff) return String.fromCodePoint(code);
      }
      const replaced =
        letter !== undefined && Object.hasOwn(LETTERS, letter) ? LETTERS[letter] : undefined;
      if (replaced === undefined) isValid = false;
      return replaced ?? '';
    },
  );
  return isValid ? text : undefined;
}
