import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { COMPONENTS } from '../../../src/logging/components.js';
import { escapeLine } from '../../../src/logging/escape.js';
import { Log, type LogOptions } from '../../../src/logging/logger.js';
import { LogSink } from '../../../src/logging/sink.js';

function logTo(t: TestContext, options: Partial<LogOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-test-'));
  const path = join(folder, 'proxy.log');
  const sink = new LogSink(path);
  t.after(() => {
    sink.close();
    rmSync(folder, { recursive: true });
  });
  const log = new Log({ level: 'info', pattern: '%l %n %v', ...options, sink });
  return { log, path, folder, text: () => readFileSync(path, 'utf8') };
}

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
  assert.equal(
    COMPONENTS.filter((name) => log.level(name) === 'off').length,
    COMPONENTS.length - 1,
  );
});

test('a line names its place, and only that line does', (t) => {
  const { log, text } = logTo(t, { pattern: '[%@]' });
  log.at('src/a.ts', 7).debug('main', 'not written');
  log.info('main', '');
  log.at('src/b.ts', 8).info('main', '');

  assert.equal(text(), '[:0]\n[src/b.ts:8]\n');
});

test('after a rotation the file is opened anew', (t) => {
  const { log, path, folder, text } = logTo(t);
  log.info('main', 'before');
  renameSync(path, join(folder, 'old.log'));
  log.reopen();
  log.info('main', 'after');

  assert.equal(text(), 'info main after\n');
  assert.equal(readFileSync(join(folder, 'old.log'), 'utf8'), 'info main before\n');
});

test('a file that cannot be opened anew stays in use, and the log says so', (t) => {
  const { log, folder } = logTo(t);
  const moved = `${folder}-moved`;
  renameSync(folder, moved);
  log.reopen();
  const text = readFileSync(join(moved, 'proxy.log'), 'utf8');
  renameSync(moved, folder);

  assert.match(text, /^error main cannot open log file '.*proxy\.log' again: ENOENT/);
});

test('a log file that cannot be opened is an error that names it', () => {
  assert.throws(() => new LogSink('/no/such/folder/x.log'), /\/no\/such\/folder\/x\.log/);
});

test('escaped lines hold nothing but printable ASCII; white space at the end stays', () => {
  assert.equal(
    escapeLine('a "b" \'c\' \\ \n\té\x01 \n'),
    'a \\"b\\" \\\'c\\\' \\\\ \\n\\t\\303\\251\\001 \n',
  );
});

test('escaping is for the whole line', (t) => {
  const { log, text } = logTo(t, { isEscaped: true, pattern: '"%v"' });
  log.info('main', 'a\nb');

  assert.equal(text(), '\\"a\\nb\\"\n');
});
