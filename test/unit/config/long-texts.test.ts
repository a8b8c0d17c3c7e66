// Texts that others send, such as the body of POST /tap: what is a MiB long must be read in a moment.
// An expression that looks at the rest of a text from each of its characters takes minutes for it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prefersMetricFamilies } from '../../../src/admin/pages/media-types.js';
import { readSubset } from '../../../src/config/formats/yaml/yaml-subset.js';
import { parseScalar } from '../../../src/config/values/scalars.js';

const LENGTH = 2 ** 20;
const MOMENT_MS = 1000;

const STORIES: readonly (readonly [what: string, unit: string, read: (text: string) => unknown])[] =
  [
    ['a block of newlines', '\n', (text) => readSubset(`a: |\n  x${text}  y\n`)?.ok === true],
    ['a clipped block of newlines', '\n', (text) => readSubset(`a: |-\n  x${text}b: y\n`)?.ok],
    ['digits that are no number', '1', (text) => parseScalar('double', `${text}x`) === undefined],
    ['digits with a point', '1', (text) => parseScalar('int64', `1.${text}x`) === undefined],
    ['padding that is too long', '=', (text) => parseScalar('bytes', text) === undefined],
    ['blanks in Accept', ' ', (text) => !prefersMetricFamilies(`a${text}b`)],
    ['tabs before Accept', '\t', (text) => !prefersMetricFamilies(`${text}b`)],
  ];

for (const [what, unit, read] of STORIES) {
  test(`a MiB of ${what} is read in a moment`, () => {
    const text = unit.repeat(LENGTH);
    // Of this process, whatever else the machine does.
    const before = process.cpuUsage();
    assert.equal(read(text), true);
    const tookMs = process.cpuUsage(before).user / 1000;

    assert.ok(tookMs < MOMENT_MS, `it took ${tookMs} ms`);
  });
}
