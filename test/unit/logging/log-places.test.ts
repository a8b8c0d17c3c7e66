import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import { packageRoot } from '../../../src/base/package-root.js';
import { folderOf } from '../support/folder.js';

test('the build writes into each log call where it stands', async (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, 'src'));
  const path = join(folder, 'src', 'a.ts');
  const source = `declare const log: any;
log.info('main', 'x');
export class Server {
  async #start(
    n: number,
  ): Promise<void> {
    if (n > 0) {
      log.warn('main', \`\${n}\`);
    }
  }
}
export const stop = async (): Promise<void> => {
  log.error('main', 'y');
};
log.level('main');
`;
  writeFileSync(path, source);
  const { logPlaces } = (await import(join(packageRoot(), 'scripts', 'log-places.mjs'))) as {
    logPlaces(root: string): never;
  };

  const { outputFiles } = await build({
    entryPoints: [path],
    write: false,
    plugins: [logPlaces(folder)],
  });

  const [output] = outputFiles;
  const places = [...(output?.text ?? '').matchAll(/log\.at\((.*?)\)\.(\w+)\(/g)];
  assert.deepEqual(
    places.map(([, place, level]) => `${place} ${level}`),
    ['"src/a.ts", 2, "" info', '"src/a.ts", 8, "start" warn', '"src/a.ts", 13, "stop" error'],
  );
  assert.match(output?.text ?? '', /^log\.level\("main"\);$/m);
});
