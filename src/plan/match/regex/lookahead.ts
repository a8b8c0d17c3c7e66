// Lookaheads, which ECMAScript has and RE2 has not: (?=…) where what follows must fit, (?!…) where it
// must not. Each is taken out of its pattern and leaves a mark, which re2js compiles like letters;
// byte-program makes an instruction of it that runs the lookahead's own program, and takes no byte.
import { tokens } from './dialect.js';
import { markOf } from './marks.js';

export interface Lookahead {
  /** What must follow, or must not. */
  readonly pattern: string;
  readonly isNegative: boolean;
}

export interface LookaheadFault {
  readonly error: string;
  /** Where in the pattern. */
  readonly at: number;
}

/** `source`: a character for each byte. */
export function takeLookaheads(
  source: string,
): { readonly rest: string; readonly lookaheads: readonly Lookahead[] } | LookaheadFault {
  const lookaheads: Lookahead[] = [];
  let rest = '';
  /** Where the lookahead begins that is being read, and how many groups are open in it. */
  let start: number | undefined;
  let depth = 0;
  for (const { text, at } of tokens(source)) {
    const begins = text === '(?' && /[=!]/.test(source[at + 2] ?? '');
    if (start === undefined) {
      if (begins) start = at;
      else rest += text;
      continue;
    }
    if (begins) return { error: 'a lookahead inside of another is not supported yet', at };
    // Its text would have to be kept.
    if (text === '(')
      return { error: 'a group inside of a lookahead is not supported yet; write (?:', at };
    if (text === '(?') depth++;
    if (text !== ')' || depth-- > 0) continue;
    rest += markOf(lookaheads.length);
    const pattern = source.slice(start + 3, at);
    lookaheads.push({ pattern, isNegative: source[start + 2] === '!' });
    start = undefined;
    depth = 0;
  }
  if (start !== undefined) return { error: 'missing )', at: start };
  return { rest, lookaheads };
}
