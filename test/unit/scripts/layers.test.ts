// The check that lint makes of src/.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../../src/base/package-root.js';

type Imports = readonly (readonly [from: string, to: string])[];
const { circles, importsOf, includesOf, upwardImports } = (await import(
  join(packageRoot(), 'scripts', 'layers.mjs')
)) as {
  importsOf(file: string, text: string): Imports;
  includesOf(file: string, text: string): Imports;
  upwardImports(imports: Imports, layers: readonly (readonly string[])[], house?: string): string[];
  circles(imports: Imports): string[];
};

const LAYERS = [['server'], ['admin', 'grpc'], ['base']];

test('what a file imports is read from its import lines, types and loads at need too', () => {
  const text = [
    "import { a } from './a.js';",
    'import type {',
    '  B,',
    "} from '../../plan/b.js';",
    "export type { C } from './c.js';",
    "const d = await import('../d.js');",
    "import { join } from 'node:path';",
  ].join('\n');
  assert.deepEqual(importsOf('admin/http/x.ts', text), [
    ['admin/http/x.ts', 'admin/http/a.ts'],
    ['admin/http/x.ts', 'plan/b.ts'],
    ['admin/http/x.ts', 'admin/http/c.ts'],
    ['admin/http/x.ts', 'admin/d.ts'],
  ]);
});

test('an import leads to a layer below or stays in its folder; up and across are refused', () => {
  const imports: Imports = [
    ['server/x.ts', 'base/y.ts'],
    ['admin/x.ts', 'admin/http/y.ts'],
    ['base/x.ts', 'server/y.ts'],
    ['admin/x.ts', 'grpc/y.ts'],
  ];
  assert.deepEqual(upwardImports(imports, LAYERS), [
    'src/base/x.ts imports src/server/y.ts, which is not in a layer below it',
    'src/admin/x.ts imports src/grpc/y.ts, which is not in a layer below it',
  ]);
});

test('what a source of the data plane includes is held to its layers in the same way', () => {
  const text = '#include "base/y.h"\n\n#include <vector>\n#include "server/z.h"\n';
  const includes = includesOf('admin/x.cc', text);
  assert.deepEqual(includes, [
    ['admin/x.cc', 'base/y.h'],
    ['admin/x.cc', 'server/z.h'],
  ]);
  assert.deepEqual(upwardImports(includes, LAYERS, 'native'), [
    'native/admin/x.cc imports native/server/z.h, which is not in a layer below it',
  ]);
});

test('a folder that no layer names is refused', () => {
  assert.deepEqual(upwardImports([['odds/x.ts', 'base/y.ts']], LAYERS), [
    'src/odds has no layer: scripts/layers.mjs gives it one',
  ]);
});

test('folders that import each other are a circle, though no two of their files are', () => {
  const imports: Imports = [
    ['plan/route/a.ts', 'plan/match/b.ts'],
    ['plan/match/c.ts', 'plan/route/d.ts'],
  ];
  assert.deepEqual(circles(imports), [
    'route → match → route in src/plan: plan/route/a.ts → plan/match/b.ts, plan/match/c.ts → plan/route/d.ts',
  ]);
});

test('a circle of three files is found whatever else they import', () => {
  const imports: Imports = [
    ['base/z.ts', 'base/a.ts'],
    ['base/a.ts', 'base/b.ts'],
    ['base/b.ts', 'base/end.ts'],
    ['base/b.ts', 'base/c.ts'],
    ['base/c.ts', 'base/a.ts'],
  ];
  assert.equal(circles(imports).length, 1);
  assert.match(circles(imports)[0] ?? '', /^a\.ts → b\.ts → c\.ts → a\.ts in src\/base/);
});

test('two ways to the same file are no circle', () => {
  const imports: Imports = [
    ['base/a.ts', 'base/b.ts'],
    ['base/a.ts', 'base/c.ts'],
    ['base/b.ts', 'base/d.ts'],
    ['base/c.ts', 'base/d.ts'],
  ];
  assert.deepEqual(circles(imports), []);
});
