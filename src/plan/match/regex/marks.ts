// What stands for a lookahead in a pattern that re2js compiles.

/** Of a plane that no pattern of bytes has: the first of the marks, and what ends each. */
export const FIRST_MARK = 0x10_0000;
export const MARK_END = 0x10_fffd;

/** Of two letters, so that alternatives do not become a set. */
export const markOf = (index: number): string => String.fromCodePoint(FIRST_MARK + index, MARK_END);
