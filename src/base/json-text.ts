// JSON as the admin pages lay it out: a value per line, one blank per level.

const LINES: string[] = [];
/** What JSON spells as it is. */
const PLAIN = /^[^"\\<>\p{Cc}\p{Cs}]*$/u;

/** The end of a line, and the blanks of the next. */
export const newLine = (depth: number): string => (LINES[depth] ??= `\n${' '.repeat(depth)}`);

export const quoted = (text: string): string =>
  PLAIN.test(text) ? `"${text}"` : escaped(JSON.stringify(text));

/** `depth`: that of the line on which the value begins. */
export const indentedJson = (value: unknown, depth: number): string =>
  escaped(JSON.stringify(value, null, 1)).replaceAll('\n', newLine(depth));

/** Brackets are escaped, as the real server does: the text is then safe inside of HTML. */
const escaped = (json: string): string =>
  json.replace(/[<>]/g, (bracket) => (bracket === '<' ? '\\u003c' : '\\u003e'));
