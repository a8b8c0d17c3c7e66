// --log-format-escaped: a line in which no byte can do harm to whoever reads it.

const NAMED: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '"': '\\"',
  "'": "\\'",
  '\\': '\\\\',
};

/** As C would write it; bytes beyond ASCII in octal. White space at the end stays. */
export function escapeLine(line: string): string {
  const end = line.trimEnd().length;
  const kept = line.slice(end);
  return line.slice(0, end).replace(/["'\\]|[^\x20-\x7e]/gu, escapeCharacter) + kept;
}

function escapeCharacter(character: string): string {
  const named = NAMED[character];
  if (named !== undefined) return named;
  return [...Buffer.from(character)]
    .map((byte) => `\\${byte.toString(8).padStart(3, '0')}`)
    .join('');
}
