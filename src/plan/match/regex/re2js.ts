// Programs of regular expressions, as re2js compiles them.
import { re2js } from '../../../base/late-modules.js';

/** As re2js compiles: what it calls Inst and Prog. */
export interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: ArrayLike<number>;
}
export interface Program {
  readonly inst: readonly Instruction[];
  readonly start: number;
  readonly numCap: number;
}

/** re2js's operations. */
export const Op = {
  ALT: 1,
  ALT_MATCH: 2,
  CAPTURE: 3,
  EMPTY_WIDTH: 4,
  FAIL: 5,
  MATCH: 6,
  NOP: 7,
  RUNE: 8,
  RUNE1: 9,
  RUNE_ANY: 10,
  RUNE_ANY_NOT_NL: 11,
} as const;

/** What is wrong with a pattern, as re2js says it. */
export interface Failure {
  readonly error: string;
  /** The part of the pattern that is wrong. */
  readonly input: string | null;
}

/** Parses and compiles. The program is an internal field of re2js, which is pinned. */
export function compileByRe2js(source: string): Program | Failure {
  const { RE2JS, RE2JSSyntaxException } = re2js();
  try {
    return (RE2JS.compile(source) as unknown as { re2Input: { prog: Program } }).re2Input.prog;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return { error: error.error, input: error.input };
  }
}
