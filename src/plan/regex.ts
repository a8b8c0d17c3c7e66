// Regular expressions for the data plane: re2js parses RE2's syntax and compiles it, and this file
// writes the program in words that native/base/regex runs (native code never parses a pattern).
//
// Words are uint32, little-endian: magic, start, number of capture slots, number of instructions;
// then for each: operation, next, argument, number of range words, and that many words (first and
// last code point of each range). Case folding is already in the ranges.
import { RE2JS } from 're2js';

/** A pattern's program, or why there is none. */
export type CompiledRegex = { readonly program: Uint8Array } | { readonly error: string };

const MAGIC = 0x31786572;
const MAX_INSTRUCTIONS = 65_536;
// re2js's operations.
const OP = { RUNE: 8, RUNE1: 9, ANY: 10, ANY_NOT_NL: 11 } as const;
const FOLD = 1;
const LAST_RUNE = 0x10ffff;

interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: ArrayLike<number>;
}
interface Program {
  readonly inst: readonly Instruction[];
  readonly start: number;
  readonly numCap: number;
}

/** Compiles a pattern. `error` is RE2's own wording ("missing closing ): `a(b`"). */
export function compileRegex(pattern: string): CompiledRegex {
  let program: Program;
  try {
    // An internal field of re2js, which is pinned; test/unit/plan/regex.test.ts notices a change.
    const compiled = RE2JS.compile(pattern) as unknown as { re2Input: { prog: Program } };
    program = compiled.re2Input.prog;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { error: text.replace(/^error parsing regexp: /, '') };
  }
  if (program.inst.length > MAX_INSTRUCTIONS) {
    return { error: `the pattern compiles to ${program.inst.length} instructions, more than ${MAX_INSTRUCTIONS}` };
  }
  const words = [MAGIC, program.start, program.numCap, program.inst.length];
  for (const instruction of program.inst) {
    const ranges = rangesOf(instruction);
    const op = instruction.op >= OP.RUNE ? OP.RUNE : instruction.op;
    const arg = instruction.op >= OP.RUNE ? 0 : instruction.arg;
    words.push(op, instruction.out, arg, ranges.length, ...ranges);
  }
  const bytes = new Uint8Array(words.length * 4);
  const view = new DataView(bytes.buffer);
  words.forEach((word, index) => view.setUint32(index * 4, word, true));
  return { program: bytes };
}

function rangesOf(instruction: Instruction): number[] {
  switch (instruction.op) {
    case OP.ANY:
      return [0, LAST_RUNE];
    case OP.ANY_NOT_NL:
      return [0, 9, 11, LAST_RUNE];
    case OP.RUNE1:
    case OP.RUNE: {
      const runes = Array.from(instruction.runes);
      if (runes.length !== 1) return runes;
      const rune = runes[0]!;
      if ((instruction.arg & FOLD) === 0) return [rune, rune];
      return foldsOf(rune).flatMap((fold) => [fold, fold]);
    }
    default:
      return [];
  }
}

/** All code points that are equal to `rune` whatever the case. */
function foldsOf(rune: number): number[] {
  const folds = new Set([rune]);
  const add = (text: string): void => {
    const [first, ...rest] = [...text];
    if (first !== undefined && rest.length === 0) folds.add(first.codePointAt(0)!);
  };
  for (const known of [rune, 0x212a, 0x17f]) {
    const text = String.fromCodePoint(known);
    const lower = text.toLowerCase();
    const upper = text.toUpperCase();
    // The Kelvin sign and the long s fold to k and s, but k and s do not say so.
    const own = String.fromCodePoint(rune);
    if (known !== rune && own.toLowerCase() !== lower && own.toLowerCase() !== upper.toLowerCase()) continue;
    if (known !== rune) folds.add(known);
    add(lower);
    add(upper);
    add(upper.toLowerCase());
    add(lower.toUpperCase());
  }
  return [...folds].sort((a, b) => a - b);
}
