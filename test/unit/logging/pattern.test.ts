import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_PATTERN, compilePattern, type LogRecord } from '../../../src/logging/pattern.js';

const RECORD: LogRecord = {
  timeMs: new Date(2026, 1, 3, 14, 5, 6).getTime() + 7.089,
  level: 'critical',
  logger: 'main',
  file: 'src/cli/main.ts',
  line: 12,
  message: 'it "ends"\nhere',
};

function lineOf(pattern: string, changes: Partial<LogRecord> = {}): string {
  return compilePattern(pattern).format({ ...RECORD, ...changes });
}

test('the default pattern shows time, thread, level, logger and source', () => {
  assert.equal(
    lineOf(DEFAULT_PATTERN, { message: 'hello' }),
    `[2026-02-03 14:05:06.007][${process.pid}][critical][main] [src/cli/main.ts:12] hello`,
  );
});

test('dates and times', () => {
  assert.equal(lineOf('%a %A %b %B %d %m %C %Y'), 'Tue Tuesday Feb February 03 02 26 2026');
  assert.equal(lineOf('%c|%D|%x'), 'Tue Feb 3 14:05:06 2026|02/03/26|02/03/26');
  assert.equal(
    lineOf('%H %I %M %S %p|%r|%R|%T|%X'),
    '14 02 05 06 PM|02:05:06 PM|14:05|14:05:06|14:05:06',
  );
  assert.equal(lineOf('%E'), String(Math.floor(RECORD.timeMs / 1000)));
  assert.match(lineOf('%z'), /^[+-]\d\d:\d\d$/);
});

test('midnight and noon are twelve on a clock of twelve hours', () => {
  const at = (hour: number): string =>
    lineOf('%I %p', { timeMs: new Date(2026, 1, 3, hour).getTime() });

  assert.deepEqual([at(0), at(12), at(23)], ['12 AM', '12 PM', '11 PM']);
});

test('fractions of a second: three, six or nine digits', () => {
  assert.equal(lineOf('%e'), '007');
  assert.match(lineOf('%f'), /^00708[89]$/);
  assert.match(lineOf('%F'), /^00708[89]\d{3}$/);
});

test('the message: as it is, on one line, or for JSON', () => {
  assert.equal(lineOf('%v'), 'it "ends"\nhere');
  assert.equal(lineOf('%_'), 'it "ends"\\nhere');
  assert.equal(lineOf('{"m":"%j"}'), '{"m":"it \\"ends\\"\\nhere"}');
});

test('levels in full and as a letter, the source in parts', () => {
  assert.equal(lineOf('%l %L %n %P'), `critical C main ${process.pid}`);
  assert.equal(lineOf('%g %s %# %@ [%!]'), 'src/cli/main.ts main.ts 12 src/cli/main.ts:12 []');
});

test('a flag is aligned to a width, and cut to it by an exclamation mark', () => {
  assert.equal(
    lineOf('<%10l|%-10l|%=10l|%=11l>'),
    '<  critical|critical  | critical | critical  >',
  );
  assert.equal(lineOf('<%2!l|%2l>'), '<cr|critical>');
});

test('what is no flag stays, a percent sign is written twice, one at the end is nothing', () => {
  assert.equal(lineOf('%q 100%% %'), '%q 100% ');
});
