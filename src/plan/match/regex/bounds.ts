// How large a pattern is going to be, told from its text: repeats multiply, so that a few characters
// could take seconds and hundreds of megabytes to compile.
import { tokens } from './dialect.js';

export interface Bounds {
  /** Of the pattern, in UTF-16 units. */
  readonly length: number;
  readonly instructions: number;
  /** What a set of Unicode's, such as \pL, counts for. */
  readonly namedSetCost: number;
}

/** For patterns that clients of the admin interface send. */
export const FILTER_BOUNDS: Bounds = { length: 16_384, instructions: 20_000, namedSetCost: 100 };

/** For patterns of the configuration, whatever it allows: there RE2 runs out of its 8 MiB. */
export const CONFIGURATION_BOUNDS: Bounds = {
  length: 1 << 20,
  instructions: 87_381,
  namedSetCost: 1,
};

/** Says what is beyond which bound; undefined: nothing is. */
export function beyondBounds(pattern: string, bounds: Bounds): string | undefined {
  const { length, instructions } = bounds;
  if (pattern.length > length)
    return `it has ${pattern.length} characters, and ${length} are the most`;
  const size = new Estimate(bounds).of(pattern);
  if (size <= instructions) return undefined;
  return `it needs some ${size} instructions, and ${instructions} are the most`;
}

/** RE2 refuses more, also as the product of repeats in each other. */
const MOST_REPEATS = 1000;

const REPEAT = /\{(\d{1,4})(?:(,)(\d{0,4}))?\}/y;
const FLAGS = /\(\?[a-zA-Z-]*([:)])/y;
const NAMED_SET = /\\[pP]|\[:/g;

/** What stands between two parentheses, as far as it was read. */
interface Group {
  /** Of all before the last item. */
  before: number;
  /** Of the last item, which a repeat multiplies. */
  last: number;
  /** The largest product of repeats in it. */
  repeats: number;
  /** The same of the last item. */
  lastRepeats: number;
}

const newGroup = (): Group => ({ before: 0, last: 0, repeats: 1, lastRepeats: 1 });

class Estimate {
  readonly #namedSetCost: number;
  readonly #open: Group[] = [];
  #group = newGroup();

  constructor({ namedSetCost }: Bounds) {
    this.#namedSetCost = namedSetCost;
  }

  /** Of a pattern that is wrong: anything, as long as it is small. */
  of(pattern: string): number {
    let end = 0;
    for (const { text, at } of tokens(pattern)) {
      if (at >= end) end = at + this.#read(pattern, text, at);
    }
    while (this.#open.length > 0) this.#close();
    return this.#group.before + this.#group.last;
  }

  /** Returns how long it is. */
  #read(pattern: string, text: string, at: number): number {
    const group = this.#group;
    if (text.startsWith('(')) return this.#openGroup(pattern, text, at);
    if (text === ')') this.#close();
    else if (text === '*' || text === '+' || text === '?' || text === '|') group.last++;
    else if (text === '{') return this.#repeat(pattern, at);
    else this.#add(this.#costOf(text), 1);
    return text.length;
  }

  #openGroup(pattern: string, text: string, at: number): number {
    FLAGS.lastIndex = at;
    const flags = FLAGS.exec(pattern);
    if (flags?.[1] === ')') return flags[0].length;
    this.#open.push(this.#group);
    this.#group = newGroup();
    return flags?.[0].length ?? text.length;
  }

  #close(): void {
    const { before, last, repeats } = this.#group;
    const outer = this.#open.pop();
    if (!outer) return;
    this.#group = outer;
    this.#add(before + last + 2, repeats);
  }

  #add(cost: number, repeats: number): void {
    const group = this.#group;
    group.before += group.last;
    group.last = cost;
    group.lastRepeats = repeats;
    group.repeats = Math.max(group.repeats, repeats);
  }

  #repeat(pattern: string, at: number): number {
    REPEAT.lastIndex = at;
    const match = REPEAT.exec(pattern);
    if (!match) {
      this.#add(1, 1);
      return 1;
    }
    const [whole, least = '', comma, most = ''] = match;
    const times = Number(comma && most !== '' ? most : least);
    const group = this.#group;
    // What is more is refused before anything is repeated.
    if (group.lastRepeats * times <= MOST_REPEATS) {
      group.last *= Math.max(1, times);
      group.lastRepeats *= Math.max(1, times);
      group.repeats = Math.max(group.repeats, group.lastRepeats);
    }
    return whole.length;
  }

  #costOf(text: string): number {
    if (text.startsWith('\\Q')) return text.length;
    const sets = text.match(NAMED_SET)?.length ?? 0;
    return Math.max(1, sets * this.#namedSetCost);
  }
}
