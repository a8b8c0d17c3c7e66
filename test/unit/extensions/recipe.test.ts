// CONTRIBUTING.md says where an HTTP filter has to be told of: held against those that there are.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../../src/base/package-root.js';

const read = (path: string): string => readFileSync(join(packageRoot(), path), 'utf8');

/** The paths before the colon of each numbered step. */
function placesOfRecipe(): string[] {
  const [, recipe = ''] = read('CONTRIBUTING.md').split('## Adding an HTTP filter\n');
  const [steps = ''] = recipe.split('\n## ');
  const heads = [...steps.matchAll(/^\d+\. ([^:]*):/gm)].map(([, head = '']) => head);
  return heads.flatMap((head) => [...head.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path));
}

/** The members of the plan's oneof, but for the router, which is none. */
function filterNames(): string[] {
  const [, members = ''] = /oneof filter \{([^}]*)\}/.exec(
    read('proto/fairlead/plan/http_filter.proto'),
  ) ?? [''];
  return [...members.matchAll(/\w+ (\w+) = \d+;/g)].map(([, name = '']) => name);
}

/** Of filters whose C++ is told of by others' tests (test/native/caches), by stories and beside the real server. */
const WITHOUT_NATIVE_TEST: ReadonlySet<string> = new Set(['cache', 'discovered']);
/** Of files that have another name than their member of the plan. */
const FILES: ReadonlyMap<string, string> = new Map([
  ['composite', 'matched'],
  ['discovered', 'discovered-filter'],
]);
/** In no configuration: what stands for a filter that is still to come. */
const OF_THE_PLAN_ALONE: ReadonlySet<string> = new Set(['discovered']);

/** All that a folder's files say. */
function readAll(folder: string): string {
  const names = readdirSync(join(packageRoot(), folder)).filter((name) => name.endsWith('.ts'));
  return names.map((name) => read(`${folder}/${name}`)).join('\n');
}

test('every HTTP filter is at each place that the recipe for a new one names', () => {
  const places = placesOfRecipe();
  assert.equal(places.length, 12);
  const names = filterNames();
  assert.ok(names.includes('health_check'));
  for (const name of names) {
    const words = new RegExp(name.replaceAll('_', '[-_ ]?'), 'i');
    const file = FILES.get(name) ?? name.replaceAll('_', '-');
    const source = file === 'matched' ? file : name;
    const counts = read(`native/filters/http/${source}.cc`).includes('stats::');
    for (const place of places) {
      if (place.endsWith('catalogue.txt') && !counts) continue;
      if (place.endsWith('_test.cc') && WITHOUT_NATIVE_TEST.has(name)) continue;
      if (place.startsWith('test/') && place.endsWith('.ts')) continue;
      if (!place.includes('NAME') && OF_THE_PLAN_ALONE.has(name)) continue;
      const own = place.replace('NAME', place.endsWith('.ts') ? file : source);
      assert.ok(existsSync(join(packageRoot(), own)), `${own} is not there`);
      assert.match(read(own), words, `${own} does not know ${name}`);
    }
    if (OF_THE_PLAN_ALONE.has(name)) continue;
    for (const folder of ['test/unit/extensions/http', 'test/integration']) {
      assert.match(readAll(folder), words, `no test in ${folder} knows ${name}`);
    }
  }
});
