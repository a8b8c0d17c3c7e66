// Cases for the native matcher, with what re2js finds, or V8 where a pattern looks ahead: patterns and texts from a seeded generator.
// test/native/base/regex_cases.txt holds them; regex.test.ts notices when it is out of date.
import { RE2JS } from 're2js';
import { compileEcmaScript, compileRegex } from '../../../../../src/plan/match/regex/regex.js';

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
/** In ECMAScript's syntax. */
const LOOKING = [
  'a(?=b)',
  'a(?!b)',
  '^a(?=\\.)(?:.|\\n)*',
  '(?=ab)a',
  '(?!a)\\w',
  '(?=a)(?=[^b]b)..',
  '(?:(?=a)a|(?=b)b)+',
  '(?:(?=a)|(?=b))(.)',
  '(a+)(?=b(?:a|c)*c)',
  '(?!.*b)a',
  'b*(?=a*$)',
  '(?=)a',
  '(?!)|b',
  '(?:a(?!b)|b(?=a))*c?',
  '(a|b)+(?!a)',
  '(?=\\b)a+',
  '(?=^)b|\\w$',
  '(.)(?=[\\x80-\\xff])',
  '(?=a|bc).',
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
      const replaced = isWhole(regex, rewrite)
        ? replaceAll(findOf(regex, text), text, rewrite)
        : text;
      lines.push(
        ['text', hex(text), whole, search, hex(rewrite), hex(replaced)].map(String).join('\t'),
      );
    }
  }
  for (const pattern of LOOKING) {
    const compiled = compileEcmaScript(pattern);
    if ('error' in compiled) throw new Error(compiled.message);
    lines.push(`regex\t${hex(compiled.program)}\t${JSON.stringify(pattern)}`);
    for (let j = 0; j < 3 * textsPerPattern; ++j) {
      const text = Array.from({ length: random.below(9) }, () => random.of(LETTERS)).join('');
      const whole = new RegExp(`^(?:${pattern})$`).test(text) ? 1 : 0;
      const search = new RegExp(pattern).test(text) ? 1 : 0;
      const replaced = replaceAll(findByV8(pattern, text), text, '<\\0>');
      lines.push(
        ['text', hex(text), whole, search, hex('<\\0>'), hex(replaced)].map(String).join('\t'),
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

/** A match that begins at `from` or later, and its groups. */
type Find = (
  from: number,
) =>
  | { readonly begin: number; readonly end: number; readonly group: (n: number) => string }
  | undefined;

function findOf(regex: RE2JS, text: string): Find {
  const matcher = regex.matcher(text);
  return (from) =>
    matcher.find(from)
      ? { begin: matcher.start(), end: matcher.end(), group: (n) => matcher.group(n) ?? '' }
      : undefined;
}

function findByV8(pattern: string, text: string): Find {
  const regex = new RegExp(pattern, 'g');
  return (from) => {
    regex.lastIndex = from;
    const match = regex.exec(text);
    if (!match) return undefined;
    const end = match.index + match[0].length;
    return { begin: match.index, end, group: (n) => match[n] ?? '' };
  };
}

/** RE2::GlobalReplace in terms of single searches. */
function replaceAll(find: Find, text: string, rewrite: string): string {
  let out = '';
  let lastEnd = -1;
  let from = 0;
  while (from <= text.length) {
    const match = find(from);
    if (!match) break;
    const { begin, end } = match;
    out += text.slice(from, begin);
    if (begin === end && begin === lastEnd) {
      out += text.slice(begin, begin + 1);
      from = begin + 1;
      continue;
    }
    out += rewrite.replace(/\\([\d\\])/g, (_, c: string) =>
      c === '\\' ? c : match.group(Number(c)),
    );
    from = lastEnd = end;
  }
  return out + text.slice(from);
}

/** A rewrite that names a group that there is not replaces nothing. */
function isWhole(regex: RE2JS, rewrite: string): boolean {
  const groups = [...rewrite.matchAll(/\\(\d)/g)].map((match) => Number(match[1]));
  return Math.max(0, ...groups) <= regex.groupCount();
}

function hex(data: string | Uint8Array): string {
  return Buffer.from(data as string, 'latin1').toString('hex');
}
