const HEADER = /\|([+-]?)(?: *| +#[^\n]*)\n/y;

export interface Literal {
  readonly value: string;
  /** The start of the first line after it. */
  readonly end: number;
}

/**
 * The block that begins with `|` at `at`: its lines as they are, without their common indent.
 * Undefined where it is of a rarer kind or wrong.
 */
export function readLiteral(text: string, at: number, parentIndent: number): Literal | undefined {
  HEADER.lastIndex = at;
  const header = HEADER.exec(text);
  if (!header) return undefined;
  const lines: string[] = [];
  let indent = -1;
  let end = HEADER.lastIndex;
  while (end < text.length) {
    const newline = text.indexOf('\n', end);
    const line = text.slice(end, newline < 0 ? text.length : newline);
    const lineIndent = line.search(/[^ ]/);
    if (lineIndent >= 0 && lineIndent <= parentIndent) break;
    if (lineIndent >= 0 && indent < 0) {
      indent = lineIndent;
      // Blank lines before the first word may not be longer than its indent.
      if (lines.some((blank) => blank.length > indent)) return undefined;
    }
    if ((lineIndent >= 0 && lineIndent < indent) || newline < 0) return undefined;
    lines.push(line);
    end = newline + 1;
  }
  return { value: textOf(lines, Math.max(indent, 0), header[1] ?? ''), end };
}

function textOf(lines: readonly string[], indent: number, chomping: string): string {
  const text = lines.map((line) => `${line.slice(indent)}\n`).join('');
  if (chomping === '+') return text;
  let end = text.length;
  while (text[end - 1] === '\n') end--;
  return text.slice(0, chomping === '-' || end === 0 ? end : end + 1);
}
