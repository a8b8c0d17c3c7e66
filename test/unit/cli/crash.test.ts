import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logCrash } from '../../../src/cli/crash.js';
import { Log } from '../../../src/logging/logger.js';
import { FakeLog } from '../support/fake-log.js';

function logged(error: unknown, isSingleEntry: boolean): string[] {
  const fake = new FakeLog();
  logCrash(new Log({ level: 'info', pattern: '%v' }, fake), error, isSingleEntry);
  return fake.lines;
}

const BUG = Object.assign(new Error('bug'), { stack: 'Error: bug\n    at a (x.ts:1)\n    at b' });

test('the stack of a crash is an entry for each frame, or one', () => {
  assert.deepEqual(logged(BUG, false), [
    'critical main Error: bug',
    'critical main at a (x.ts:1)',
    'critical main at b',
  ]);
  assert.deepEqual(logged(BUG, true), ['critical main Error: bug\n    at a (x.ts:1)\n    at b']);
});

test('what is thrown and is no error is logged as it is', () => {
  assert.deepEqual(logged('a text', false), ['critical main a text']);
});
