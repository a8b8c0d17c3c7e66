// An esbuild plugin that tells each log call where it stands: `log.info(…)` becomes
// `log.at('src/x.ts', 12, 'start').info(…)`, since a bundle no longer knows its files, lines and names.
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';

const LOG_CALL = /\blog\.(?=(?:trace|debug|info|warn|error|critical|write)\()/g;

/** What begins a function, as the formatter writes it, and is no statement. */
const FUNCTION =
  /^\s*(?:(?:export|async|static|private|get|set|function) )*([#\w]+)(?:<.*>)?\(|^\s*(?:export )?const (\w+) = (?:async )?\(/;
const STATEMENTS = new Set(['if', 'for', 'while', 'switch', 'catch', 'return', 'with', 'await']);
const indentOf = (line) => line.length - line.trimStart().length;

/** The name of the function that a line stands in: above it, further left, and still open. */
export function functionAround(lines, index) {
  let indent = indentOf(lines[index]);
  for (let above = index - 1; above >= 0 && indent > 0; above--) {
    const line = lines[above];
    if (line.trim() === '' || indentOf(line) >= indent) continue;
    // What ends here began above, as far left.
    indent = indentOf(line) + (/^\s*[)}\]]/.test(line) ? 1 : 0);
    const [, name, constant] = FUNCTION.exec(line) ?? [];
    const found = name ?? constant;
    if (found !== undefined && !STATEMENTS.has(found) && !line.trimEnd().endsWith(';')) {
      return found.replace('#', '');
    }
  }
  return '';
}

/** `root` is what the paths are relative to; `rewrite` changes the text further, line by line. */
export function logPlaces(root, rewrite = (text) => text) {
  return {
    name: 'log-places',
    setup(build) {
      build.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
        const file = relative(root, path);
        const lines = (await readFile(path, 'utf8')).split('\n');
        const marked = lines.map((text, index) =>
          text.replace(
            LOG_CALL,
            () => `log.at('${file}', ${index + 1}, '${functionAround(lines, index)}').`,
          ),
        );
        return { contents: rewrite(marked.join('\n')), loader: 'ts' };
      });
    },
  };
}
