// CONTRIBUTING.md says where an HTTP filter has to be told of: held against those that there are.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
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

test('every HTTP filter is at each place that the recipe for a new one names', () => {
  const places = placesOfRecipe();
  assert.equal(places.length, 12);
  const names = filterNames();
  assert.ok(names.includes('health_check'));
  for (const name of names) {
    const words = new RegExp(name.replaceAll('_', '[-_ ]?'), 'i');
    const counts = read(`native/filters/http/${name}.cc`).includes('stats::');
    for (const place of places) {
      if (place.endsWith('catalogue.txt') && !counts) continue;
      const own = place.replace('NAME', place.endsWith('.ts') ? name.replaceAll('_', '-') : name);
      assert.ok(existsSync(join(packageRoot(), own)), `${own} is not there`);
      assert.match(read(own), words, `${own} does not know ${name}`);
    }
  }
});
