import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { RE2JS } from 're2js';
import {
  compileEcmaScript,
  compileFilter,
  compileRegex,
} from '../../../../../src/plan/match/regex/regex.js';
import { DEFAULT_LIMIT, programSize } from '../../../../../src/plan/match/regex/program-size.js';
import { makeCases } from './regex-cases.js';

function wordsOf(pattern: string): number[] {
  const compiled = compileRegex(pattern, DEFAULT_LIMIT);
  assert.ok('program' in compiled);
  const view = new DataView(compiled.program.buffer);
  return Array.from({ length: compiled.program.length / 4 }, (_, i) => view.getUint32(i * 4, true));
}

function errorOf(pattern: string): { error: string; at: number | undefined; message: string } {
  const compiled = compileRegex(pattern, DEFAULT_LIMIT);
  assert.ok('error' in compiled, `${pattern} compiles`);
  return compiled;
}

test('a program is written in words: magic, start, slots, count, instructions with their edges', () => {
  // re2js puts an instruction that fails first.
  assert.deepEqual(wordsOf('a|c'), [
    ...[0x32786572, 1, 2, 3],
    ...[5, 0, 0, 0],
    ...[7, 0, 0, 2, 0x6161, 2, 0x6363, 2],
    ...[4, 0, 0, 0],
  ]);
});

test('letters beyond ASCII are the bytes of their UTF-8', () => {
  assert.deepEqual(wordsOf('é'), wordsOf('\\xc3\\xa9'));
});

test('the case of ASCII letters is ignored under (?i), that of other bytes is not', () => {
  assert.deepEqual(wordsOf('(?i)é'), wordsOf('é'));
  assert.deepEqual(wordsOf('(?i)a'), wordsOf('[aA]'));
  assert.deepEqual(wordsOf('(?i)k'), wordsOf('[kK]'));
});

test('a filter takes characters of one to four bytes, whatever the case', () => {
  for (const pattern of ['.', '[^a]', '\\pL+', '(?i)é', '(?i)ſ', '[\\x{800}-\\x{10ffff}]']) {
    assert.ok('program' in compileFilter(pattern), pattern);
  }
});

test('a filter that is asked for again is not compiled again, as long as few others are', () => {
  const filter = '^cluster\\.(one|two)\\.';
  const first = compileFilter(filter);
  assert.equal(compileFilter(filter), first);
  for (let other = 0; other < 100; ++other) compileFilter(`${filter}${other}`);
  const later = compileFilter(filter);
  assert.notEqual(later, first);
  assert.deepEqual(later, first);
});

test('errors are in the words of RE2', () => {
  const wanted: Record<string, string> = {
    '[': 'missing ]: [',
    'a(b': 'missing ): a(b',
    'a)b': 'unexpected ): a)b',
    '*a': 'no argument for repetition operator: *',
    'a**': 'bad repetition operator: **',
    'a+?*': 'bad repetition operator: +?*',
    'a{1001}': 'invalid repetition size: {1001}',
    'a{2,1}': 'invalid repetition size: {2,1}',
    '\\': 'trailing \\',
    '\\8': 'invalid escape sequence: \\8',
    'a++': 'bad repetition operator: ++',
    '(?=a)': 'invalid perl operator: (?=',
    '(?<=a)': 'invalid perl operator: (?<=',
    '[b-a]': 'invalid character class range: b-a',
    '[[:foo:]]': 'invalid character class range: [:foo:]',
    '\\p{Foo}': 'invalid character class range: \\p{Foo}',
    '(?P<>a)': 'invalid named capture group: (?P<>',
    '(?z)': 'invalid perl operator: (?z',
    '[a-\\x{0800}]': 'invalid escape sequence: \\x{0800',
    'é(': 'missing ): é(',
  };
  for (const [pattern, error] of Object.entries(wanted)) {
    assert.equal(errorOf(pattern).error, error);
  }
});

test('errors name the pattern and the place', () => {
  assert.equal(errorOf('a(b').message, "regular expression 'a(b': missing ) at character 2");
  assert.equal(
    errorOf('[(]((?=x)').message,
    "regular expression '[(]((?=x)': invalid perl operator '(?=' at character 5",
  );
  assert.equal(errorOf('é)').at, 1);
});

test('what RE2 takes and re2js does not is taken: a name twice, and \\C', () => {
  assert.deepEqual(wordsOf('(?P<n>a)(?P<n>b)'), wordsOf('(a)(b)'));
  assert.deepEqual(wordsOf('a\\Cb'), wordsOf('(?s)a.b'));
  assert.equal(errorOf('[\\C]').error, 'invalid escape sequence: \\C');
});

// Sizes that the real server names.
test('a program has the size that RE2 would give it', () => {
  const wanted: Record<string, number> = {
    'a{1,300}': 603,
    '(?s).*': 6,
    '\\Aabc\\z': 4,
    '^/api/(?:users|groups)/([^/]+)$': 21,
    '^/(.*)/(.*)/(.*)$': 18,
  };
  for (const [pattern, size] of Object.entries(wanted)) {
    const compiled = RE2JS.compile(pattern) as unknown as {
      re2Input: { prog: Parameters<typeof programSize>[0] };
    };
    assert.equal(programSize(compiled.re2Input.prog), size, pattern);
  }
});

test('a pattern that RE2 would need more than 100 instructions for is refused', () => {
  assert.equal(
    errorOf('a{1,300}').error,
    "regex 'a{1,300}' RE2 program size of 603 > max program size of 100 set for the error level " +
      'threshold. Increase configured max program size if necessary.',
  );
  assert.ok('program' in compileRegex('a{1,300}', { size: 603, source: 'config' }));
  assert.ok('program' in compileFilter('a{1,300}'));
});

const LARGE = 'pattern too large - compile failed: ';

test('a filter that is long, or long when what repeats is written out, is refused with the bound', () => {
  const wanted: Record<string, string> = {
    ['x'.repeat(16_385)]: 'it has 16385 characters, and 16384 are the most',
    ['x{1000}'.repeat(400)]: 'it needs some 400000 instructions, and 20000 are the most',
    ['(?:x{2}){500}'.repeat(21)]: 'it needs some 42000 instructions, and 20000 are the most',
    ['(a|b){0,999}'.repeat(5)]: 'it needs some 24975 instructions, and 20000 are the most',
    ['(\\pL{100}){10}']: 'it needs some 100020 instructions, and 20000 are the most',
    [`[${'\\pL'.repeat(500)}]`]: 'it needs some 50000 instructions, and 20000 are the most',
  };
  for (const [pattern, why] of Object.entries(wanted)) {
    const compiled = compileFilter(pattern);
    assert.equal('error' in compiled && compiled.error, LARGE + why);
  }
});

test('what is not repeated is not multiplied, and what RE2 refuses anyway is told in its words', () => {
  for (const pattern of ['x{1000}'.repeat(19), '(?i:x){999}', '[{1000}]'.repeat(99), 'x{,9}'])
    assert.ok('program' in compileFilter(pattern), pattern);
  assert.deepEqual(
    ['x{1001}', '(?:(?:x{100}){100}){100}', 'x{2}{1000}', '\\Qx{1000}'].map((pattern) => {
      const compiled = compileFilter(pattern);
      return 'error' in compiled ? compiled.error : 'compiles';
    }),
    [
      'invalid repetition size: {1001}',
      'invalid repetition size: {100}',
      'bad repetition operator: {2}{1000}',
      'compiles',
    ],
  );
});

test('the largest filters that are taken compile in a moment, and so does what is refused', () => {
  const names = Array.from({ length: 2500 }, (_, i) => `c${i}x`).join('|');
  const patterns = [
    names.slice(0, 16_384),
    'x{1000}'.repeat(19),
    `(?i)${'k'.repeat(16_000)}`,
    '\\pL'.repeat(199),
    `(?:${'a?'.repeat(200)}){40}`,
    '(?:x{2}){500}'.repeat(1260),
    '(?<a'.repeat(4096),
    '('.repeat(16_384),
    '[['.repeat(8192),
    '\\Q'.repeat(8192),
  ];
  for (const pattern of patterns) {
    // Of this process, whatever else the machine does.
    const before = process.cpuUsage();
    compileFilter(pattern);
    const tookMs = process.cpuUsage(before).user / 1000;
    assert.ok(tookMs < 1000, `${pattern.slice(0, 20)} took ${tookMs} ms`);
  }
});

test('a pattern of the configuration is bound before it is compiled, whatever is allowed', () => {
  const compiled = compileRegex('x{1000}'.repeat(400), { size: 2 ** 32 - 1, source: 'config' });
  assert.equal(
    'error' in compiled && compiled.error,
    `${LARGE}it needs some 400000 instructions, and 87381 are the most`,
  );
});

test('a lookahead is an instruction that runs a part of the program', () => {
  const compiled = compileEcmaScript('a(?!b)');
  assert.ok('program' in compiled);
  const words = new Uint32Array(compiled.program.slice().buffer);
  assert.deepEqual(
    [...words],
    [
      ...[0x32786572, 1, 2, 8],
      ...[5, 0, 0, 0],
      ...[7, 0, 0, 1, 0x6161, 2],
      // Its own program begins at 6, and must not match.
      ...[8, 3, 13, 0],
      ...[6, 4, 0, 0],
      ...[4, 0, 0, 0],
      ...[5, 5, 0, 0],
      ...[7, 5, 0, 1, 0x6262, 7],
      ...[4, 5, 0, 0],
    ],
  );
});

test('what could take time without end is refused, and so are groups in lookaheads', () => {
  const wanted: Record<string, string> = {
    '(a)\\1': 'invalid escape sequence: \\1',
    '(?=a': 'missing ) (at character 1)',
    'a(?=b(?!c))': 'a lookahead inside of another is not supported yet (at character 6)',
    'a(?=(b))': 'a group inside of a lookahead is not supported yet; write (?: (at character 5)',
    '(?<=a)b': 'invalid perl operator: (?<=',
  };
  for (const [pattern, error] of Object.entries(wanted)) {
    const compiled = compileEcmaScript(pattern);
    assert.equal('error' in compiled && compiled.error, error, pattern);
  }
});

test('the cases of the native tests are up to date (FAIRLEAD_UPDATE=1 writes them)', async () => {
  const file = join('test', 'native', 'base', 'regex_cases.txt');
  const cases = makeCases(1, 60, 8);
  if (process.env['FAIRLEAD_UPDATE'] === '1') await writeFile(file, cases);
  assert.equal(await readFile(file, 'utf8'), cases);
});
