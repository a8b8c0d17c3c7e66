import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { COMPONENTS } from '../../../src/logging/components.js';
import { Log, type LogOptions } from '../../../src/logging/logger.js';
import { DEFAULT_PATTERN } from '../../../src/logging/pattern.js';
import { loadAddon } from '../../../src/native.js';

function logTo(t: TestContext, options: Partial<LogOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-test-'));
  const path = join(folder, 'proxy.log');
  const log = new Log({ level: 'info', pattern: '%l %n %v', ...options });
  assert.equal(log.openFile(path), undefined);
  t.after(() => {
    log.openFile('');
    log.flush();
    rmSync(folder, { recursive: true });
  });
  const text = (name = 'proxy.log'): string => {
    assert.ok(log.flush(10_000));
    return readFileSync(join(folder, name), 'utf8');
  };
  return { log, path, folder, text };
}

test('the components are those of the data plane', () => {
  assert.deepEqual(loadAddon().log.components, COMPONENTS);
});

test('a line is written when its level reaches that of its component', (t) => {
  const { log, text } = logTo(t, {
    level: 'warning',
    componentLevels: new Map([['upstream', 'debug']]),
  });
  log.info('main', 'no');
  log.warn('main', 'yes');
  log.debug('upstream', 'yes');
  log.trace('upstream', 'no');

  assert.equal(text(), 'warning main yes\ndebug upstream yes\n');
});

test('levels change while the log is in use, for one component or for all', (t) => {
  const { log, text } = logTo(t);
  log.setLevel('off');
  log.critical('main', 'no');
  log.setLevel('trace', 'http');
  log.trace('http', 'yes');

  assert.equal(text(), 'trace http yes\n');
  const off = COMPONENTS.filter((name) => log.level(name) === 'off');
  assert.equal(off.length, COMPONENTS.length - 1);
});

test('a line names its place, and only that line does', (t) => {
  const { log, text } = logTo(t, { pattern: '[%@ %!]' });
  log.at('src/a.ts', 7).debug('main', 'not written');
  log.info('main', '');
  log.at('src/b.ts', 8, 'start').info('main', '');

  assert.equal(text(), '[ ]\n[src/b.ts:8 start]\n');
});

test('a new pattern is for the lines that come after it', (t) => {
  const { log, text } = logTo(t, { pattern: '1 %v' });
  log.info('main', 'a');
  log.setPattern('2 %v');
  log.info('main', 'b');

  assert.equal(text(), '1 a\n2 b\n');
});

test('after a rotation the file is opened anew', (t) => {
  const { log, path, folder, text } = logTo(t);
  log.info('main', 'before');
  log.flush();
  renameSync(path, join(folder, 'old.log'));
  log.reopen();
  log.info('main', 'after');

  assert.equal(text(), 'info main after\n');
  assert.equal(text('old.log'), 'info main before\n');
});

test('a log file that cannot be opened is a problem, and the log stays where it was', (t) => {
  const { log, text } = logTo(t);

  assert.equal(log.openFile('/no/such/folder/x.log'), 'No such file or directory');
  log.info('main', 'here');
  assert.equal(text(), 'info main here\n');
});

test('escaping is for the whole line', (t) => {
  const { log, text } = logTo(t, { isEscaped: true, pattern: '"%v"' });
  log.info('main', "a\nb 'é'");

  assert.equal(text(), '\\"a\\nb \\\'\\303\\251\\\'\\"\n');
});

test('a line of any length is written whole', (t) => {
  const { log, text } = logTo(t, { pattern: '%v' });
  const long = 'line of an error that goes on and on\n'.repeat(10_000);
  log.error('main', long);

  assert.equal(text(), `${long}\n`);
});

// The last: there is no way back from it.
test('with fine-grain logging each source file has a level, and lines show it', (t) => {
  const { log, text } = logTo(t, { isFineGrain: true, pattern: '%n %v' });
  log.at('src/a.ts', 1).debug('http', 'no');
  log.setFileLevels([['src/a*', 'debug']]);
  log.at('src/a.ts', 1).debug('http', 'yes');
  log.at('src/b.ts', 1).debug('http', 'no');
  log.setFileLevels([['http', 'trace']]);
  log.at('src/a.ts', 1).trace('http', 'yes');
  log.at('src/a.ts', 1).debug('main', 'no');

  assert.equal(text(), 'src/a.ts:http yes\nsrc/a.ts:http yes\n');
  assert.deepEqual(log.fileLevels(), [
    ['src/a.ts', 'trace'],
    ['src/a.ts', 'info'],
    ['src/b.ts', 'trace'],
  ]);
  log.setLevel('error');
  assert.deepEqual(log.fileLevels(), [
    ['src/a.ts', 'error'],
    ['src/b.ts', 'error'],
  ]);
  log.setPattern(DEFAULT_PATTERN);
});
