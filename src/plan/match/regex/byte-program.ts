// re2js's program over characters → a program over bytes: each character becomes one instruction
// per byte of it, whose edges lead on. Characters with the same tails share instructions.
import { FIRST_MARK, MARK_END } from './marks.js';
import { compileByRe2js, Op, type Instruction, type Program } from './re2js.js';

export type Encoding = 'latin1' | 'utf8';

/** Our operations: see src/plan/match/regex/regex.ts. */
const ByteOp = {
  FORK: 1,
  CAPTURE: 2,
  EMPTY: 3,
  MATCH: 4,
  FAIL: 5,
  NOP: 6,
  BYTES: 7,
  LOOK: 8,
} as const;

export interface Edge {
  readonly first: number;
  readonly last: number;
  readonly target: number;
}
export interface ByteInstruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly edges: readonly Edge[];
}

/** Ascending and disjoint: [first, last]. */
export type Ranges = readonly (readonly [number, number])[];

const FOLD = 1;
const LAST_RUNE = 0x10ffff;

/** Undefined: more than `limit` instructions and edges are needed. */
export function byteProgram(
  program: Program,
  encoding: Encoding,
  limit: number,
): readonly ByteInstruction[] | undefined {
  const builder = new Builder(program.inst.length);
  let size = 0;
  for (const [index, instruction] of program.inst.entries()) {
    builder.instructions[index] = translate(instruction, encoding, builder);
    size += 1 + builder.instructions[index].edges.length;
    if (size + builder.tailSize > limit) return undefined;
  }
  return builder.instructions;
}

function translate(
  { op, out, arg, runes }: Instruction,
  encoding: Encoding,
  builder: Builder,
): ByteInstruction {
  switch (op) {
    case Op.ALT:
    case Op.ALT_MATCH:
      return { op: ByteOp.FORK, out, arg, edges: [] };
    case Op.CAPTURE:
      return { op: ByteOp.CAPTURE, out, arg, edges: [] };
    case Op.EMPTY_WIDTH:
      return { op: ByteOp.EMPTY, out, arg, edges: [] };
    case Op.MATCH:
      return { op: ByteOp.MATCH, out: 0, arg: 0, edges: [] };
    case Op.NOP:
      return { op: ByteOp.NOP, out, arg: 0, edges: [] };
    case Op.FAIL:
      return { op: ByteOp.FAIL, out: 0, arg: 0, edges: [] };
    default: {
      const mark = encoding === 'latin1' ? markInstruction(runes, out) : undefined;
      if (mark) return mark;
      const ranges = rangesOf({ op, out, arg, runes });
      const edges = encoding === 'latin1' ? latin1(ranges, out) : builder.utf8(ranges, out);
      return { op: ByteOp.BYTES, out: 0, arg: 0, edges };
    }
  }
}

/** What a letter of a lookahead's mark becomes: its number is the argument until all are joined. */
function markInstruction(runes: ArrayLike<number>, out: number): ByteInstruction | undefined {
  const rune = runes.length === 1 ? (runes[0] ?? 0) : 0;
  if (rune === MARK_END) return { op: ByteOp.NOP, out, arg: 0, edges: [] };
  if (rune < FIRST_MARK) return undefined;
  return { op: ByteOp.LOOK, out, arg: rune - FIRST_MARK, edges: [] };
}

/** A program whose lookaheads are given, in the order of their marks: one program of them all. */
export function joinLookaheads(
  main: readonly ByteInstruction[],
  lookaheads: readonly {
    readonly instructions: readonly ByteInstruction[];
    readonly start: number;
    readonly isNegative: boolean;
  }[],
): readonly ByteInstruction[] {
  const starts: number[] = [];
  const joined: ByteInstruction[] = [];
  for (const { instructions, start, isNegative } of lookaheads) {
    const base = main.length + joined.length;
    starts.push((base + start) * 2 + (isNegative ? 1 : 0));
    joined.push(...instructions.map((instruction) => moved(instruction, base)));
  }
  const looking = main.map((instruction) =>
    instruction.op === ByteOp.LOOK
      ? { ...instruction, arg: starts[instruction.arg] ?? 0 }
      : instruction,
  );
  return [...looking, ...joined];
}

function moved({ op, out, arg, edges }: ByteInstruction, by: number): ByteInstruction {
  return {
    op,
    out: out + by,
    arg: op === ByteOp.FORK ? arg + by : arg,
    edges: edges.map((edge) => ({ ...edge, target: edge.target + by })),
  };
}

/** The characters that an instruction takes. */
export function rangesOf({ op, arg, runes }: Instruction): Ranges {
  switch (op) {
    case Op.RUNE_ANY:
      return [[0, LAST_RUNE]];
    case Op.RUNE_ANY_NOT_NL:
      return [
        [0, 9],
        [11, LAST_RUNE],
      ];
    default: {
      if (runes.length !== 1) return pairs(runes);
      const rune = runes[0]!;
      return (arg & FOLD) === 0 ? [[rune, rune]] : orbit(rune);
    }
  }
}

function pairs(runes: ArrayLike<number>): Ranges {
  const ranges: [number, number][] = [];
  for (let i = 0; i + 1 < runes.length; i += 2) ranges.push([runes[i]!, runes[i + 1]!]);
  return ranges;
}

const orbits = new Map<number, Ranges>();

/** All that is equal to `rune` whatever the case. re2js folds character sets itself: ask it. */
function orbit(rune: number): Ranges {
  let ranges = orbits.get(rune);
  if (ranges === undefined) {
    // The last code point has no case; with it, the set stays a set.
    const set = `(?i)[\\x{${rune.toString(16)}}\\x{10ffff}]`;
    const program = compileByRe2js(set);
    if ('error' in program) throw new Error(`re2js refuses ${set}`);
    const { inst, start } = program;
    ranges = pairs(inst[start]!.runes).filter(([first]) => first !== LAST_RUNE);
    orbits.set(rune, ranges);
  }
  return ranges;
}

function latin1(ranges: Ranges, target: number): readonly Edge[] {
  return ranges
    .filter(([first]) => first <= 0xff)
    .map(([first, last]) => ({ first, last: Math.min(last, 0xff), target }));
}

/** One range for each byte. */
type Sequence = Ranges;

const TAIL: readonly [number, number] = [0x80, 0xbf];

class Builder {
  readonly instructions: ByteInstruction[];
  tailSize = 0;
  readonly #tails = new Map<string, number>();

  constructor(count: number) {
    this.instructions = new Array<ByteInstruction>(count);
  }

  utf8(ranges: Ranges, target: number): readonly Edge[] {
    return this.#edges(
      ranges.flatMap(([first, last]) => sequencesOf(first, last)),
      0,
      target,
    );
  }

  // Sequences are ascending, and their ranges at one depth are equal or disjoint.
  #edges(sequences: readonly Sequence[], depth: number, target: number): readonly Edge[] {
    const edges: Edge[] = [];
    for (let i = 0; i < sequences.length;) {
      const [first, last] = sequences[i]![depth]!;
      let end = i + 1;
      while (end < sequences.length && sequences[end]![depth]![0] === first) ++end;
      const group = sequences.slice(i, end);
      const isLast = group[0]!.length === depth + 1;
      edges.push({ first, last, target: isLast ? target : this.#tail(group, depth + 1, target) });
      i = end;
    }
    return edges;
  }

  #tail(sequences: readonly Sequence[], depth: number, target: number): number {
    const edges = this.#edges(sequences, depth, target);
    const key = edges.map((edge) => `${edge.first}-${edge.last}>${edge.target}`).join();
    let index = this.#tails.get(key);
    if (index === undefined) {
      index = this.instructions.push({ op: ByteOp.BYTES, out: 0, arg: 0, edges }) - 1;
      this.tailSize += 1 + edges.length;
      this.#tails.set(key, index);
    }
    return index;
  }
}

function sequencesOf(first: number, last: number): Sequence[] {
  // As RE2: the whole of what is beyond ASCII may be written longer than needed, so that "." stays
  // small.
  if (first === 0x80 && last === LAST_RUNE) {
    return [
      [[0xc2, 0xdf], TAIL],
      [[0xe0, 0xef], TAIL, TAIL],
      [[0xf0, 0xf4], TAIL, TAIL, TAIL],
    ];
  }
  for (const longest of [0x7f, 0x7ff, 0xffff]) {
    if (first <= longest && longest < last) {
      return [...sequencesOf(first, longest), ...sequencesOf(longest + 1, last)];
    }
  }
  if (last <= 0x7f) return [[[first, last]]];
  // Both ends have the same length; where they differ in an earlier byte, later ones must be whole.
  for (const mask of [0x3f, 0xfff, 0x3ffff]) {
    if ((first & ~mask) === (last & ~mask)) continue;
    if ((first & mask) !== 0) {
      return [...sequencesOf(first, first | mask), ...sequencesOf((first | mask) + 1, last)];
    }
    if ((last & mask) !== mask) {
      return [...sequencesOf(first, (last & ~mask) - 1), ...sequencesOf(last & ~mask, last)];
    }
  }
  const from = encode(first);
  const to = encode(last);
  return [from.map((byte, index) => [byte, to[index]!])];
}

/** Buffer will not write surrogates; RE2's ranges hold them. */
function encode(rune: number): number[] {
  const tail = (shift: number): number => 0x80 | ((rune >> shift) & 0x3f);
  if (rune < 0x800) return [0xc0 | (rune >> 6), tail(0)];
  if (rune < 0x10000) return [0xe0 | (rune >> 12), tail(6), tail(0)];
  return [0xf0 | (rune >> 18), tail(12), tail(6), tail(0)];
}
