// Cases for the native matcher, with what re2js finds: patterns and texts from a seeded generator.
// test/native/base/regex_cases.txt holds them; regex.test.ts notices when it is out of date.
import { RE2JS } from 're2js';
import { compileRegex } from '../../../../../src/plan/match/regex/regex.js';

const FIXED = [
  '',
  'a',
  '^$',
  'a*',
  '(a|ab)(c|bcd)(d*)',
  '(a+)(b+)?',
  '(?:(a)|b)*',
  'a*?',
  '(a*)+',
  '(a|b)*c',
  '^a|b$',
  '(?m)^b$',
  '(?s).+',
  '.+',
  '\\bab?\\b',
  '\\Ba',
  '[^a]+',
  '[\\x80-\\xff]+',
  '(?i)[a-c]b',
  '(?i)AB/',
  '(|a)+',
  '/(\\w+)/(\\d*)',
  '(?:a|b|c){2,3}',
  'x{0}',
  '[[:space:]]',
  '(a)(b)(c)(/)(1)(_)(\\.)(-)(\\n)(A)',
];
const ATOMS = [
  'a',
  'b',
  'c',
  '/',
  '.',
  '\\d',
  '\\w',
  '[ab]',
  '[^b]',
  '(?i:a)',
  '\\.',
  '\\n',
  '\\xe9',
];
const EMPTY = ['^', '$', '\\b', '\\B', '\\A', '\\z', '(?m:^)', '(?m:$)'];
const REPEATS = ['*', '+', '?', '*?', '+?', '??', '{2}', '{0,2}', '{1,}'];
const LETTERS = 'aabbcAB/1_.-\n\xe9';
const REWRITES = ['x', '<\\0>', '[\\1]', '\\\\\\2', ''];

/** A small linear congruential generator: the same cases everywhere. */
class Random {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }
  of<T>(choices: ArrayLike<T>): T {
    return choices[this.below(choices.length)]!;
  }
}

/**
 * For each pattern a line "regex, program in hex, pattern as JSON", then for each text "text, text
 * in hex, whole match, search, rewrite in hex, replaced in hex"; separated by tabs.
 */
export function makeCases(seed: number, patterns: number, textsPerPattern: number): string {
  const random = new Random(seed);
  const lines: string[] = [];
  for (let i = 0; i < FIXED.length + patterns; ++i) {
    const pattern = FIXED[i] ?? alternation(random, 3);
    const compiled = compileRegex(pattern, { size: 10_000, source: 'config' });
    // Repeats of repeats may be too large.
    if ('error' in compiled) continue;
    lines.push(`regex\t${hex(compiled.program)}\t${JSON.stringify(pattern)}`);
    const regex = RE2JS.compile(pattern);
    for (let j = 0; j < textsPerPattern; ++j) {
      const text = Array.from({ length: random.below(9) }, () => random.of(LETTERS)).join('');
      const whole = regex.matches(text) ? 1 : 0;
      const search = regex.matcher(text).find() ? 1 : 0;
      const rewrite = random.of(REWRITES);
      const replaced = replaceAll(regex, text, rewrite);
      lines.push(
        ['text', hex(text), whole, search, hex(rewrite), hex(replaced)].map(String).join('\t'),
      );
    }
  }
  return `${lines.join('\n')}\n`;
}

function alternation(random: Random, depth: number): string {
  const count = random.below(4) === 0 ? 2 + random.below(2) : 1;
  return Array.from({ length: count }, () => sequence(random, depth)).join('|');
}

function sequence(random: Random, depth: number): string {
  return Array.from({ length: 1 + random.below(3) }, () => repeated(random, depth)).join('');
}

function repeated(random: Random, depth: number): string {
  const what = random.below(10);
  if (what === 0) return random.of(EMPTY);
  const grouped = depth > 0 && what < 4;
  const atom = grouped
    ? `${what < 3 ? '(' : '(?:'}${alternation(random, depth - 1)})`
    : random.of(ATOMS);
  return random.below(3) === 0 ? atom + random.of(REPEATS) : atom;
}

/** RE2::GlobalReplace in terms of single searches. */
function replaceAll(regex: RE2JS, text: string, rewrite: string): string {
  const groups = [...rewrite.matchAll(/\\(\d)/g)].map((match) => Number(match[1]));
  if (Math.max(0, ...groups) > regex.groupCount()) return text;
  const matcher = regex.matcher(text);
  let out = '';
  let lastEnd = -1;
  let from = 0;
  while (from <= text.length && matcher.find(from)) {
    const begin = matcher.start();
    const end = matcher.end();
    out += text.slice(from, begin);
    if (begin === end && begin === lastEnd) {
      out += text.slice(begin, begin + 1);
      from = begin + 1;
      continue;
    }
    out += rewrite.replace(/\\([\d\\])/g, (_, c: string) =>
      c === '\\' ? c : (matcher.group(Number(c)) ?? ''),
    );
    from = lastEnd = end;
  }
  return out + text.slice(from);
}

function hex(data: string | Uint8Array): string {
  return Buffer.from(data as string, 'latin1').toString('hex');
}
