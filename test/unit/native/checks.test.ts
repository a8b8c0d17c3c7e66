import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/** What each `NAME(condition)` of the data plane checks: a check that is compiled in keeps its text. */
function conditionsOf(name: string): Set<string> {
  const sources = readdirSync('native', { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(cc|h)$/.test(file) && file !== 'base/check.h')
    .map((file) => readFileSync(join('native', file), 'utf8'));
  const call = new RegExp(`^ *${name}\\((.*)\\);`, 'gm');
  return new Set(
    sources.flatMap((source) => [...source.matchAll(call)].map(([, text = '']) => text)),
  );
}

test('the addon that is installed has the checks that are always on, and none of those for tests', () => {
  const addon = readFileSync('dist/fairlead.node', 'latin1');
  const always = conditionsOf('FL_CHECK');
  const whereTestsRun = [...conditionsOf('FL_DCHECK')].filter((text) => !always.has(text));

  assert.ok(whereTestsRun.length > 0);
  assert.deepEqual(
    whereTestsRun.filter((text) => addon.includes(`${text}\0`)),
    [],
  );
  assert.ok([...always].some((text) => addon.includes(`${text}\0`)));
});
