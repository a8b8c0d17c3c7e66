// The only file that loads re2js, and only when there is a pattern: it takes longer than all else
// that a small configuration needs.
import { createRequire } from 'node:module';
import type { Program } from './byte-program.js';

type Re2js = typeof import('re2js');

let loaded: Re2js | undefined;

function re2js(): Re2js {
  return (loaded ??= createRequire(import.meta.url)('re2js') as Re2js);
}

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
