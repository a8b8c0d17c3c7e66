// The real server's reader asks nothing of how far lines are indented that go on within brackets and
// quotes; the `yaml` package wants them indented further than the block around them, and by spaces.

const BLOCK_SCALAR = /(?:^|[\s:?-])[|>][-+\d]*[\t ]*(?:#.*)?$/;

/**
 * The same text, every offset the same, where lines that go on within brackets and quotes are one line, as
 * far as that says the same.
 */
export function joinLines(text: string): string {
  // Not by characters: places are counted in units of UTF-16.
  const out = text.split('');
  let depth = 0;
  let quote = '';
  let lineStart = 0;
  for (let at = 0; at < out.length; at++) {
    const one = out[at] ?? '';
    if (one === '\n') {
      if (quote !== '' || depth > 0) joinAt(out, at, quote);
      else if (isBlockScalar(text.slice(lineStart, at))) at = endOfBlock(text, lineStart, at);
      lineStart = at + 1;
    } else if (quote !== '') {
      if (quote === '"' && one === '\\') at++;
      else if (one === quote && quote === "'" && out[at + 1] === quote) at++;
      else if (one === quote) quote = '';
    } else if (one === '#' && isBlank(out[at - 1])) {
      const end = endOfLine(text, at);
      if (depth > 0) out.fill(' ', at, end);
      at = end - 1;
    } else if (isQuote(one)) {
      if (mayBegin(out, depth > 0 ? undefined : lineStart, at)) quote = one;
    } else if (one === '{' || one === '[') {
      if (depth > 0 || mayBegin(out, lineStart, at)) depth++;
    } else if (depth > 0 && (one === '}' || one === ']')) {
      depth--;
    }
  }
  return out.join('');
}

const isQuote = (one: string): boolean => one === '"' || one === "'";
const isBlank = (one: string | undefined): boolean => one === undefined || /\s/.test(one);

const isProperty = (word: string): boolean => word.startsWith('!') || word.startsWith('&');

/** Whether a value may begin here, rather than go on. `lineStart`: undefined within brackets. */
function mayBegin(out: readonly string[], lineStart: number | undefined, at: number): boolean {
  const from = lineStart ?? 0;
  let end = at;
  while (end > from && isBlank(out[end - 1])) end--;
  const before = out[end - 1] ?? '';
  if (lineStart === undefined && '{[,:?'.includes(before)) return true;
  if (end === lineStart) return true;
  if (end === at) return false;
  if (lineStart !== undefined && ':-?'.includes(before)) return true;
  let start = end;
  while (start > from && !isBlank(out[start - 1])) start--;
  return isProperty(out[start] ?? '');
}

/** Blanks around a line's end are one blank; where they are at an edge of a scalar they are nothing. */
function joinAt(out: string[], at: number, quote: string): void {
  let from = at;
  while (from > 0 && isBlank(out[from - 1]) && out[from - 1] !== '\n') from--;
  let to = at + 1;
  while (to < out.length && isBlank(out[to]) && out[to] !== '\n') to++;
  const before = out[from - 1] ?? '';
  const after = out[to] ?? '';
  const isSingle =
    from === at && to === at + 1 && before !== '\\' && after !== '\n' && before !== '\n';
  const isBetween = quote === '' && ('{[,:'.includes(before) || ']},'.includes(after));
  if (isSingle || isBetween) out.fill(' ', from, to);
}

const endOfLine = (text: string, at: number): number => {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
};

const isBlockScalar = (line: string): boolean => BLOCK_SCALAR.test(line);

/** Where the last line's end is of a block scalar whose line begins there. */
function endOfBlock(text: string, lineStart: number, lineEnd: number): number {
  const indentOf = (start: number): number => {
    let at = start;
    while (text[at] === ' ') at++;
    return at - start;
  };
  const indent = indentOf(lineStart);
  let end = lineEnd;
  while (end + 1 < text.length) {
    const next = endOfLine(text, end + 1);
    const isEmpty = text.slice(end + 1, next).trim() === '';
    if (!isEmpty && indentOf(end + 1) <= indent) break;
    end = next;
  }
  return Math.min(end, text.length - 1);
}
