import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readArguments } from '../../../src/options/arguments.js';

function valuesOf(...words: readonly string[]): Record<string, unknown> {
  const read = readArguments(words);
  assert.equal(read.kind, 'values', JSON.stringify(read));
  return Object.fromEntries((read as { values: ReadonlyMap<string, unknown> }).values);
}

function mistakeOf(...words: readonly string[]): string {
  const read = readArguments(words);
  assert.equal(read.kind, 'parse-error');
  return read.kind === 'parse-error' ? `${read.argument}: ${read.why}` : '';
}

test('a value is the next word or what follows the equals sign', () => {
  const expected = { 'config-path': 'a.yaml', mode: 'validate', concurrency: 2 };

  assert.deepEqual(valuesOf('-c', 'a.yaml', '--mode', 'validate', '--concurrency', '2'), expected);
  assert.deepEqual(
    valuesOf('--config-path=a.yaml', '--mode=validate', '--concurrency=2'),
    expected,
  );
});

test('the next word is the value, whatever it looks like', () => {
  for (const word of ['--', '-', '-c', '--version', '-1', '{"a": "b=c"}', "'quoted'", ' a\nb ']) {
    assert.deepEqual(valuesOf('--log-format', word), { 'log-format': word });
    assert.deepEqual(valuesOf(`--log-format=${word}`), { 'log-format': word });
  }
  assert.deepEqual(valuesOf('--log-format', '--version', '--config-yaml', ''), {
    'log-format': '--version',
    'config-yaml': '',
  });
});

test('numbers have 32 bits; negative ones wrap around', () => {
  assert.deepEqual(valuesOf('--base-id', '-1'), { 'base-id': 4_294_967_295 });
  assert.deepEqual(valuesOf('--concurrency', '+5'), { concurrency: 5 });
  for (const text of ['x', '1.5', '0x5', '5000000000', '-5000000000', '2 ']) {
    const why = `(--concurrency): Couldn't read argument value from string '${text}'`;
    assert.equal(mistakeOf('--concurrency', text), why);
  }
});

test('a number that is empty is the default', () => {
  assert.deepEqual(valuesOf('--drain-time-s', '', '--base-id', ''), {
    'drain-time-s': 600,
    'base-id': 0,
  });
});

test('a word that is empty or one dash says nothing', () => {
  assert.deepEqual(valuesOf('', '--mode', 'serve', '-'), { mode: 'serve' });
});

test('an option may be given once, a list any number of times', () => {
  assert.equal(
    mistakeOf('-c', 'a', '--config-path', 'b'),
    '-c (--config-path): Argument already set!',
  );
  assert.equal(
    mistakeOf('--cpuset-threads', '--cpuset-threads'),
    '(--cpuset-threads): Argument already set!',
  );
  assert.deepEqual(valuesOf('--stats-tag', 'a:b', '--stats-tag', 'c:d'), {
    'stats-tag': ['a:b', 'c:d'],
  });
});

test('a missing value and a stray word are mistakes', () => {
  assert.equal(mistakeOf('--mode'), '(--mode): Missing a value for this argument!');
  assert.equal(mistakeOf('extra'), "extra: Couldn't find match for argument");
  assert.equal(mistakeOf('-v'), "-v: Couldn't find match for argument");
  assert.equal(mistakeOf('--cpuset-threads=yes'), '(--cpuset-threads): It takes no value');
  assert.equal(mistakeOf('--version=1'), '(--version): It takes no value');
  assert.equal(mistakeOf('-cfile'), "-cfile: Couldn't find match for argument");
  assert.equal(mistakeOf('--cpuset-threads', 'true'), "true: Couldn't find match for argument");
});

test('an unknown option is answered with the nearest known one', () => {
  const why = "--confg-path: Couldn't find match for argument; did you mean --config-path?";
  assert.equal(mistakeOf('--confg-path', 'x'), why);
});

test('words count in order: what comes first decides', () => {
  assert.deepEqual(readArguments(['--version', '--nonsense']), { kind: 'version' });
  assert.deepEqual(readArguments(['-h']), { kind: 'help' });
  assert.equal(mistakeOf('--nonsense', '--version').split(':')[0], '--nonsense');
});

test('nothing is negated, nested, abbreviated or taken for a property of objects', () => {
  for (const word of [
    '--no-cpuset-threads',
    '--mod',
    '--mode.x=serve',
    '--mode/x',
    '--stats_tag',
    '--statsTag',
    '---mode',
    '--__proto__',
    '--__proto__.x=1',
    '--constructor',
    '--_',
    '--$0',
    '--=x',
    '-1',
  ]) {
    assert.ok(mistakeOf('--mode', 'serve', word).startsWith(`${word}: `), mistakeOf(word));
  }
});

test('of many strange words the first is named, wherever it stands as a value as well', () => {
  const words = [
    '--log-format',
    '--odd',
    '-c',
    'a.yaml',
    '--odd',
    ...Array<string>(5000).fill('x'),
  ];

  assert.equal(mistakeOf(...words), "--odd: Couldn't find match for argument");
  assert.equal(mistakeOf('x', ...words), "x: Couldn't find match for argument");
});

test('a value that is no good is told before a strange word that follows it', () => {
  const why = "(--concurrency): Couldn't read argument value from string 'x'";
  assert.equal(mistakeOf('--concurrency', 'x', '--odd'), why);
  assert.equal(mistakeOf('--concurrency', 'x', '--version'), why);
});

test('after two dashes nothing counts', () => {
  assert.deepEqual(valuesOf('--mode', 'serve', '--', 'extra', '--nonsense'), { mode: 'serve' });
  assert.deepEqual(valuesOf('--ignore_rest', 'extra'), {});
});
