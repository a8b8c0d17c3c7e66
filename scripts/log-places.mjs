// An esbuild plugin that tells each log call where it stands: `log.info(…)` becomes
// `log.at('src/x.ts', 12).info(…)`, since a bundle no longer knows its files and lines.
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';

const LOG_CALL = /\blog\.(?=(?:trace|debug|info|warn|error|critical|write)\()/g;

/** `root` is what the paths are relative to; `rewrite` changes the text further, line by line. */
export function logPlaces(root, rewrite = (text) => text) {
  return {
    name: 'log-places',
    setup(build) {
      build.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
        const file = relative(root, path);
        const lines = (await readFile(path, 'utf8')).split('\n');
        const marked = lines.map((text, index) =>
          text.replace(LOG_CALL, `log.at('${file}', ${index + 1}).`),
        );
        return { contents: rewrite(marked.join('\n')), loader: 'ts' };
      });
    },
  };
}
