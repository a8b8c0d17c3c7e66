// What is wrong with a pattern: in RE2's words, which the admin interface and configuration errors
// show, and in words for a person.
import type { Encoding } from './byte-program.js';
import { tokens } from './dialect.js';
import type { Failure } from './re2js.js';
import type { LookaheadFault } from './lookahead.js';
import type { ProgramSizeLimit } from './program-size.js';

export interface RegexError {
  /** RE2's words: "missing ): a(b". */
  readonly error: string;
  /** Where in the pattern, in UTF-16 units; undefined: it is about the whole. */
  readonly at: number | undefined;
  /** With the pattern and the place: "regular expression 'a(b': missing ) at character 2". */
  readonly message: string;
  /** It is a regular expression all the same. */
  readonly isTooLarge?: true;
}

const LONGEST_SHOWN = 200;

// re2js speaks Go.
const RE2_WORDS: Readonly<Record<string, string>> = {
  'invalid named capture': 'invalid named capture group',
  'invalid nested repetition operator': 'bad repetition operator',
  'invalid or unsupported Perl syntax': 'invalid perl operator',
  'invalid repeat count': 'invalid repetition size',
  'missing argument to repetition operator': 'no argument for repetition operator',
  'missing closing )': 'missing )',
  'missing closing ]': 'missing ]',
  'trailing backslash at end of expression': 'trailing \\',
};

export function explain(pattern: string, encoding: Encoding, failure: Failure): RegexError {
  let what = RE2_WORDS[failure.error] ?? failure.error;
  let part = failure.input ?? '';
  if (encoding === 'latin1') part = Buffer.from(part, 'latin1').toString();
  const lookbehind = /^\(\?<[=!]/.exec(part);
  if (lookbehind !== null) {
    what = 'invalid perl operator';
    part = lookbehind[0];
  }
  const at = position(pattern, what, part);
  const place = at === undefined ? '' : ` at character ${[...pattern.slice(0, at)].length + 1}`;
  const shown = part.length <= 1 || part === pattern ? '' : ` '${part}'`;
  return {
    error: part === '' ? what : `${what}: ${part}`,
    at,
    message: `regular expression '${pattern}': ${what}${shown}${place}`,
  };
}

/** It is more than RE2 holds, or than clients may ask for; `why` says the bound. */
export function beyondRe2(pattern: string, why: string): RegexError {
  const shown = pattern.length > LONGEST_SHOWN ? `${pattern.slice(0, LONGEST_SHOWN)}…` : pattern;
  return {
    error: `pattern too large - compile failed: ${why}`,
    at: undefined,
    message: `regular expression '${shown}': too large: ${why}`,
    isTooLarge: true,
  };
}

/** It goes beyond the configuration's limit. */
export function beyondLimit(pattern: string, size: number, limit: ProgramSizeLimit): RegexError {
  const why = limit.source === 'runtime' ? ' set for the error level threshold' : '';
  const error =
    `regex '${pattern}' RE2 program size of ${size} > max program size of ${limit.size}${why}. ` +
    'Increase configured max program size if necessary.';
  return { error, at: undefined, message: error, isTooLarge: true };
}

export function ofLookahead(pattern: string, { error, at }: LookaheadFault): RegexError {
  const place = `at character ${at + 1}`;
  return {
    error: `${error} (${place})`,
    at,
    message: `regular expression '${pattern}': ${error} ${place}`,
  };
}

function position(pattern: string, what: string, part: string): number | undefined {
  switch (what) {
    // RE2 names the whole pattern for these.
    case 'missing )':
      return parentheses(pattern).open;
    case 'unexpected )':
      return parentheses(pattern).unexpected;
    case 'trailing \\':
      return pattern.length - 1;
    case 'missing ]':
      return pattern.length - part.length;
    default: {
      const at = part === '' ? -1 : pattern.indexOf(part);
      return at < 0 ? undefined : at;
    }
  }
}

function parentheses(pattern: string): { open?: number; unexpected?: number } {
  const open: number[] = [];
  for (const { text, at } of tokens(pattern)) {
    if (text.startsWith('(')) open.push(at);
    if (text === ')' && open.pop() === undefined) return { unexpected: at };
  }
  const last = open.at(-1);
  return last === undefined ? {} : { open: last };
}
