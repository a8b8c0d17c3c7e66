// Regular expressions for the data plane: re2js parses RE2's syntax and compiles it, and this file
// writes the program in words that native/base/regex runs (native code never parses a pattern).
//
// Words are uint32, little-endian: magic, first instruction, number of capture slots, number of
// instructions; then for each: operation, next, argument, number of edges, and for each edge two
// words: the bytes it takes (first | last << 8) and where it leads.
//
//   operation   next   argument            edges
//   1 fork      first  second choice       -
//   2 capture   next   slot                -
//   3 empty     next   conditions, below   -
//   4 match     -      -                   -
//   5 fail      -      -                   -
//   6 nop       next   -                   -
//   7 bytes     -      -                   ascending, disjoint: a byte takes at most one
//   8 look      next   lookahead, below    -
//
// A lookahead's argument is twice where its program begins, and one more where that must not match from
// here on; its program has no groups and no lookaheads.
// Conditions: 1 begin of line, 2 end of line, 4 begin of text, 8 end of text, 16 word boundary,
// 32 none. Case folding and character sets are in the edges already.
import { beyondBounds, CONFIGURATION_BOUNDS, FILTER_BOUNDS, type Bounds } from './bounds.js';
import {
  byteProgram,
  joinLookaheads,
  type ByteInstruction,
  type Encoding,
} from './byte-program.js';
import { type Program, compileByRe2js, type Failure } from './re2js.js';
import { asciiFolding, byteString, relaxed, wideEscape } from './dialect.js';
import { beyondLimit, beyondRe2, explain, ofLookahead, type RegexError } from './errors.js';
import { takeLookaheads } from './lookahead.js';
import { programSize, type ProgramSizeLimit } from './program-size.js';

/** A pattern's program and, where that was limited, how large it is for RE2; or why there is none. */
export type CompiledRegex =
  { readonly program: Uint8Array; readonly size?: number | undefined } | RegexError;

const MAGIC = 0x32786572;
const NO_UTF8: RegexError = {
  error: 'invalid UTF-8',
  at: undefined,
  message: 'a regular expression: invalid UTF-8',
};

/**
 * Compiles a pattern of the configuration. As in the real server a character of the text is a byte
 * (Latin-1); letters of the pattern beyond ASCII stand for their UTF-8 bytes. Never throws.
 */
export function compileRegex(pattern: string, limit: ProgramSizeLimit): CompiledRegex {
  return compile(pattern, 'latin1', CONFIGURATION_BOUNDS, limit);
}

/** What is asked again and again, as by scrapers, is compiled once; few of them, and short ones. */
const knownFilters = new Map<string, CompiledRegex>();
const KNOWN_FILTERS = 16;
const LONG_FILTER = 1024;

/**
 * Compiles a filter of the admin interface: a character is a code point, bytes that are no UTF-8
 * match nothing. In the pattern they have become U+FFFD, which no name has. Never throws.
 */
export function compileFilter(pattern: string, limit?: ProgramSizeLimit): CompiledRegex {
  if (pattern.includes('\ufffd')) return NO_UTF8;
  if (limit || pattern.length > LONG_FILTER) return compile(pattern, 'utf8', FILTER_BOUNDS, limit);
  const known = knownFilters.get(pattern);
  if (known) return known;
  const compiled = compile(pattern, 'utf8', FILTER_BOUNDS);
  if (knownFilters.size >= KNOWN_FILTERS) knownFilters.clear();
  knownFilters.set(pattern, compiled);
  return compiled;
}

/**
 * Compiles a pattern in ECMAScript's syntax, for texts that are short: lookaheads take time that grows
 * with the square of a text's length. Backreferences are refused: they could take time without end.
 */
export function compileEcmaScript(pattern: string): CompiledRegex {
  const beyond = beyondBounds(pattern, CONFIGURATION_BOUNDS);
  if (beyond !== undefined) return beyondRe2(pattern, beyond);
  const taken = takeLookaheads(byteString(pattern));
  if ('error' in taken) return ofLookahead(pattern, taken);
  if (taken.lookaheads.length === 0) return compile(pattern, 'latin1', CONFIGURATION_BOUNDS);
  const main = instructionsOf(taken.rest);
  if ('failure' in main) return explain(pattern, 'latin1', main.failure);
  const parts = [];
  for (const lookahead of taken.lookaheads) {
    const part = instructionsOf(lookahead.pattern);
    if ('failure' in part) return explain(pattern, 'latin1', part.failure);
    parts.push({ ...lookahead, instructions: part.instructions, start: part.program.start });
  }
  const joined = joinLookaheads(main.instructions, parts);
  const { instructions: most } = CONFIGURATION_BOUNDS;
  if (joined.length > most) return beyondRe2(pattern, `it needs more than ${most} instructions`);
  return { program: serialize(main.program, joined) };
}

function compile(
  pattern: string,
  encoding: Encoding,
  bounds: Bounds,
  limit?: ProgramSizeLimit,
): CompiledRegex {
  const beyond = beyondBounds(pattern, bounds);
  if (beyond !== undefined) return beyondRe2(pattern, beyond);
  const parsed = parse(encoding === 'latin1' ? byteString(pattern) : pattern, encoding);
  if ('failure' in parsed) return explain(pattern, encoding, parsed.failure);
  const size = limit && programSize(parsed.program);
  if (limit && size !== undefined && size > limit.size) return beyondLimit(pattern, size, limit);
  const most = CONFIGURATION_BOUNDS.instructions;
  const instructions = byteProgram(parsed.program, encoding, most);
  if (instructions === undefined)
    return beyondRe2(pattern, `it needs more than ${most} instructions`);
  return { program: serialize(parsed.program, instructions), size };
}

type Instructions =
  | { readonly program: Program; readonly instructions: readonly ByteInstruction[] }
  | { readonly failure: Failure };

function instructionsOf(source: string): Instructions {
  const parsed = parse(source, 'latin1');
  if ('failure' in parsed) return parsed;
  const { program } = parsed;
  const instructions = byteProgram(program, 'latin1', CONFIGURATION_BOUNDS.instructions);
  if (instructions) return { program, instructions };
  return { failure: { error: 'pattern too large - compile failed', input: null } };
}

type Parsed = { readonly program: Program } | { readonly failure: Failure };

/** A pattern as RE2 reads it. */
function parse(source: string, encoding: Encoding): Parsed {
  const program = compileByRe2js(source);
  if ('error' in program) {
    // What RE2 accepts and re2js does not.
    const other = relaxed(source, encoding, program);
    return other === undefined ? { failure: program } : parse(other, encoding);
  }
  if (encoding === 'utf8') return { program };
  const failure = wideEscape(source);
  if (failure !== undefined) return { failure };
  const other = asciiFolding(source);
  if (other === undefined) return { program };
  const folded = compileByRe2js(other);
  return 'error' in folded ? { failure: folded } : { program: folded };
}

function serialize(program: Program, instructions: readonly ByteInstruction[]): Uint8Array {
  const words = [MAGIC, program.start, program.numCap, instructions.length];
  for (const { op, out, arg, edges } of instructions) {
    words.push(op, out, arg, edges.length);
    for (const edge of edges) words.push(edge.first | (edge.last << 8), edge.target);
  }
  const bytes = new Uint8Array(words.length * 4);
  const view = new DataView(bytes.buffer);
  words.forEach((word, index) => view.setUint32(index * 4, word, true));
  return bytes;
}
