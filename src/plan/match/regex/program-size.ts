// How many instructions RE2 would need for a program: the number that the real server compares with
// max_program_size. RE2 lays a program out as lists, one for each instruction that is jumped to
// ("root"); a list holds all that its root reaches without a character, and a jump where it meets
// another root. Forks cost nothing, a set costs one instruction per range of bytes.
import { rangesOf } from './byte-program.js';
import { Op, type Instruction, type Program } from './re2js.js';

/** The most instructions that RE2 may need for a pattern, and who says so. */
export interface ProgramSizeLimit {
  readonly size: number;
  /** `google_re2.max_program_size`, or the runtime's `re2.max_program_size.error_level`. */
  readonly source: 'config' | 'runtime';
}

/** Where neither says anything. */
export const DEFAULT_LIMIT: ProgramSizeLimit = { size: 100, source: 'runtime' };

/** Of patterns that say nothing themselves; `read`: of a key of the runtime, or what it is else. */
export function runtimeLimit(read: (key: string, fallback: number) => number): ProgramSizeLimit {
  const size = read('re2.max_program_size.error_level', DEFAULT_LIMIT.size);
  return { size, source: 'runtime' };
}

/** What an instruction is when forks, and all that only leads on, are told apart from the rest. */
interface Node {
  /** Where it leads without a character, in order of preference. */
  readonly forks: readonly number[];
  /** Where it leads otherwise; undefined: nowhere. */
  readonly next: number | undefined;
  /** Instructions in its list. */
  readonly cost: number;
}

const BEGIN_TEXT = 4;
const END_TEXT = 8;
const END: Node = { forks: [], next: undefined, cost: 1 };

export function programSize(program: Program): number {
  const nodes = program.inst.map((instruction) => nodeOf(instruction));
  markMatchAnything(program, nodes);
  // RE2 takes a leading ^ with the text that follows, and a trailing $, out of the program.
  const begin = dropBegin(program, nodes);
  dropEndText(program, nodes);
  let entry = program.start;
  if (begin !== 'anchored') {
    // A search begins with any bytes, as few as possible.
    const loop = nodes.length;
    nodes.push({ forks: [program.start, loop + 1], next: undefined, cost: 0 });
    nodes.push({ forks: [], next: loop, cost: 1 });
    entry = loop;
  }
  return layoutSize(nodes, landing(nodes, entry), landing(nodes, program.start));
}

function nodeOf(instruction: Instruction): Node {
  const { op, out, arg } = instruction;
  switch (op) {
    case Op.ALT:
    case Op.ALT_MATCH:
      return { forks: [out, arg], next: undefined, cost: 0 };
    case Op.NOP:
      return { forks: [out], next: undefined, cost: 0 };
    case Op.CAPTURE:
    case Op.EMPTY_WIDTH:
      return { forks: [], next: out, cost: 1 };
    case Op.MATCH:
      return END;
    case Op.FAIL:
      return END;
    default: {
      const cost = byteRanges(instruction);
      return cost === 0 ? END : { forks: [], next: out, cost };
    }
  }
}

/** Ranges of bytes; letters that are taken in both cases count once. */
function byteRanges(instruction: Instruction): number {
  const ranges = rangesOf(instruction).filter(([first]) => first <= 0xff);
  const takes = (code: number): boolean =>
    ranges.some(([first, last]) => first <= code && code <= last);
  for (let letter = 0x41; letter <= 0x5a; ++letter) {
    if (takes(letter) !== takes(letter | 0x20)) return ranges.length;
  }
  return ranges.filter(([first, last]) => first < 0x41 || last > 0x5a).length;
}

/** A fork that takes any bytes up to the end is an instruction of its own. */
function markMatchAnything({ inst }: Program, nodes: Node[]): void {
  const leadsToMatch = (at: number): boolean => {
    while (inst[at]!.op === Op.CAPTURE || inst[at]!.op === Op.NOP) at = inst[at]!.out;
    return inst[at]!.op === Op.MATCH;
  };
  inst.forEach(({ op, out, arg }, index) => {
    if (op !== Op.ALT && op !== Op.ALT_MATCH) return;
    const takesAll = (at: number): boolean =>
      inst[at]!.op === Op.RUNE_ANY && inst[at]!.out === index;
    if ((takesAll(out) && leadsToMatch(arg)) || (takesAll(arg) && leadsToMatch(out))) {
      nodes[index] = { ...nodes[index]!, cost: 1 };
    }
  });
}

function dropBegin({ inst, start }: Program, nodes: Node[]): 'anchored' | 'search' {
  let at = start;
  while (inst[at]!.op === Op.CAPTURE) at = inst[at]!.out;
  const { op, arg, out } = inst[at]!;
  if (op !== Op.EMPTY_WIDTH || arg !== BEGIN_TEXT) return 'search';
  const skip = (index: number): void => {
    nodes[index] = { forks: [inst[index]!.out], next: undefined, cost: 0 };
  };
  skip(at);
  if (at !== start) return 'anchored';
  // The text is compared before the program runs, which then searches.
  const before = predecessors(nodes);
  let literal = out;
  while (isLiteral(inst[literal]!) && before.get(literal)!.length === 1) {
    skip(literal);
    literal = inst[literal]!.out;
  }
  return literal === out ? 'anchored' : 'search';
}

function isLiteral({ op, runes }: Instruction): boolean {
  return (op === Op.RUNE || op === Op.RUNE1) && runes.length === 1;
}

function predecessors(nodes: readonly Node[]): Map<number, number[]> {
  const before = new Map<number, number[]>();
  nodes.forEach(({ forks, next }, from) => {
    for (const to of next === undefined ? forks : [next]) {
      before.set(to, [...(before.get(to) ?? []), from]);
    }
  });
  return before;
}

/** Only a $ that every match goes through is trailing. */
function dropEndText({ inst }: Program, nodes: Node[]): void {
  const before = predecessors(nodes);
  let at = inst.findIndex(({ op }) => op === Op.MATCH);
  for (;;) {
    const [only, ...others] = before.get(at) ?? [];
    if (only === undefined || others.length > 0) return;
    const { op, arg } = inst[only]!;
    if (op === Op.EMPTY_WIDTH && arg === END_TEXT) {
      nodes[only] = { forks: [at], next: undefined, cost: 0 };
      return;
    }
    if (op !== Op.CAPTURE) return;
    at = only;
  }
}

/** Where a chain of nodes that only lead on ends. */
function landing(nodes: readonly Node[], at: number): number {
  for (let steps = 0; steps < nodes.length; ++steps) {
    const { forks } = nodes[at]!;
    if (forks.length !== 1) break;
    at = forks[0]!;
  }
  return at;
}

function layoutSize(nodes: readonly Node[], entry: number, start: number): number {
  const forksOf = nodes.map(({ forks }) => forks.map((to) => landing(nodes, to)));
  const nextOf = nodes.map(({ next }) => (next === undefined ? undefined : landing(nodes, next)));
  const forkedFrom = new Map<number, number[]>();
  const roots = new Set([entry, start]);

  /** All that is reached from `from` without a character, or at all; not beyond other roots. */
  const reach = (from: number, throughNext: boolean): Set<number> => {
    const reached = new Set<number>();
    const pending = [from];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      if (reached.has(at)) continue;
      reached.add(at);
      if (!throughNext && at !== from && roots.has(at)) continue;
      pending.push(...forksOf[at]!);
      const next = nextOf[at];
      if (throughNext && next !== undefined) pending.push(next);
    }
    return reached;
  };

  for (const at of reach(entry, true)) {
    const next = nextOf[at];
    if (next !== undefined) roots.add(next);
    for (const to of forksOf[at]!) forkedFrom.set(to, [...(forkedFrom.get(to) ?? []), at]);
  }
  // What is forked to from inside a list and from outside is a root too.
  for (const root of [...roots].sort((a, b) => b - a)) {
    if (root === entry || root === start) continue;
    const reached = reach(root, false);
    for (const at of reached) {
      if (forkedFrom.get(at)?.some((from) => !reached.has(from))) roots.add(at);
    }
  }
  // One for the instruction that always fails.
  let size = 1;
  for (const root of roots) {
    for (const at of reach(root, false)) {
      size += at !== root && roots.has(at) ? 1 : nodes[at]!.cost;
    }
  }
  return size;
}
