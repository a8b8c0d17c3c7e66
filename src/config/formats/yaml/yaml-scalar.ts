// What a plain scalar of YAML is to yaml-cpp: `n`, `no` and `off` are false, `010` is eight, and
// all but small integers stays text: numbers with a point or an exponent, integers that 32 bits do
// not hold.

const WORDS = new Map<string, boolean | null>([
  ['', null],
  ['~', null],
  ['null', null],
  ['Null', null],
  ['NULL', null],
]);
for (const [value, words] of [
  [true, ['y', 'yes', 'true', 'on']],
  [false, ['n', 'no', 'false', 'off']],
] as const) {
  for (const word of words) {
    WORDS.set(word, value);
    WORDS.set(word.toUpperCase(), value);
    WORDS.set(word.charAt(0).toUpperCase() + word.slice(1), value);
  }
}

const LONGEST_WORD = 5;
const INTEGER = /^([+-]?)(?:(0[xX][0-9a-fA-F]+)|0([0-7]*)|([1-9]\d*))$/;

export function resolvePlain(text: string): string | number | boolean | null {
  if (text.length <= LONGEST_WORD) {
    const word = WORDS.get(text);
    if (word !== undefined) return word;
  }
  const first = text.charCodeAt(0);
  // Digits and signs only; most scalars are names.
  if (first > 57 || (first < 48 && first !== 43 && first !== 45)) return text;
  const match = INTEGER.exec(text);
  if (!match) return text;
  const [, sign, hexadecimal, octal, decimal] = match;
  const size = hexadecimal
    ? Number(hexadecimal)
    : octal
      ? Number(`0o${octal}`)
      : Number(decimal ?? 0);
  const value = sign === '-' ? 0 - size : size;
  return value >= -(2 ** 31) && value < 2 ** 31 ? value : text;
}
