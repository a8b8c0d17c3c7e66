import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logCrash } from '../../../src/cli/crash.js';
import { Log } from '../../../src/logging/logger.js';
import type { LogSink } from '../../../src/logging/sink.js';

function logged(error: unknown, isSingleEntry: boolean): string[] {
  const lines: string[] = [];
  const sink = { write: (line: string) => lines.push(line), isStderr: false };
  const log = new Log({ level: 'info', pattern: '%l %v', sink: sink as unknown as LogSink });
  logCrash(log, error, isSingleEntry);
  return lines;
}

const BUG = Object.assign(new Error('bug'), { stack: 'Error: bug\n    at a (x.ts:1)\n    at b' });

test('the stack of a crash is an entry for each frame, or one', () => {
  assert.deepEqual(logged(BUG, false), [
    'critical Error: bug\n',
    'critical at a (x.ts:1)\n',
    'critical at b\n',
  ]);
  assert.deepEqual(logged(BUG, true), ['critical Error: bug\n    at a (x.ts:1)\n    at b\n']);
});

test('what is thrown and is no error is logged as it is', () => {
  assert.deepEqual(logged('a text', false), ['critical a text\n']);
});
