// Words in lines of a width; a word that is longer has a line of its own.
export function wrap(words: readonly string[], width: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else {
      line = line === '' ? indent + word : `${line} ${word}`;
    }
  }
  return line === '' ? lines : [...lines, line];
}

const NARROWEST = 40;
const WIDEST = 100;
const USUAL = 80;

/** The width to wrap at for a stream: a terminal's own, within reason. */
export function widthOf({ columns = USUAL }: { readonly columns?: number | undefined }): number {
  return Math.min(WIDEST, Math.max(NARROWEST, columns));
}
