import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import { packageRoot } from '../../../src/package-root.js';

test('the build writes into each log call where it stands', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'src'));
  const path = join(folder, 'src', 'a.ts');
  writeFileSync(path, "declare const log: any;\nlog.info('main', 'x');\nlog.level('main');\n");
  const { logPlaces } = (await import(join(packageRoot(), 'scripts', 'log-places.mjs'))) as {
    logPlaces(root: string): never;
  };

  const { outputFiles } = await build({
    entryPoints: [path],
    write: false,
    plugins: [logPlaces(folder)],
  });

  const [output] = outputFiles;
  assert.equal(output?.text, 'log.at("src/a.ts", 2).info("main", "x");\nlog.level("main");\n');
});
