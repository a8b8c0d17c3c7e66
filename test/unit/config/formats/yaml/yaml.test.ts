import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { yamlFormat } from '../../../../../src/config/formats/yaml/yaml-format.js';
import { readDocument } from '../../../../../src/config/formats/yaml/yaml-document.js';
import { readSubset } from '../../../../../src/config/formats/yaml/yaml-subset.js';
import { LineIndex } from '../../../../../src/config/issues/value-position.js';

function valueOf(text: string): unknown {
  const read = yamlFormat.read(text);
  assert.ok(read.ok, read.ok ? '' : read.fault.message);
  return read.value;
}

function faultOf(text: string): string {
  const read = yamlFormat.read(text);
  assert.ok(!read.ok, 'it was read');
  const { line, column } = new LineIndex(text).position(read.fault.offset);
  return `${line}:${column} ${read.fault.message}`;
}

describe('plain scalars are what yaml-cpp makes of them', () => {
  const scalars: [text: string, value: unknown][] = [
    ['y', true],
    ['Yes', true],
    ['on', true],
    ['TRUE', true],
    ['n', false],
    ['No', false],
    ['OFF', false],
    ['tRue', 'tRue'],
    ['~', null],
    ['null', null],
    ['Null', null],
    ['nULL', 'nULL'],
    ['5', 5],
    ['+5', 5],
    ['-5', -5],
    ['010', 8],
    ['-010', -8],
    ['08', '08'],
    ['0x1F', 31],
    ['0o17', '0o17'],
    ['1_000', '1_000'],
    ['1.5', '1.5'],
    ['1e3', '1e3'],
    ['.inf', '.inf'],
    ['2147483647', 2147483647],
    ['2147483648', '2147483648'],
    ['-2147483649', '-2147483649'],
    ['2001-01-01', '2001-01-01'],
    ['"5"', '5'],
    ["'true'", 'true'],
    ["''", ''],
    ['a:b', 'a:b'],
    ['a#b', 'a#b'],
    ['a #b', 'a'],
    ['"a\\tb\\u00e9\\x41"', 'a\tbéA'],
    ["'it''s'", "it's"],
    ['!!int "7"', 7],
    ['!!str 7', 7],
    ['! 7', '7'],
    ['0', 0],
    ['-0', 0],
  ];
  for (const [text, value] of scalars) {
    test(`${text} is ${JSON.stringify(value)}`, () => {
      assert.deepEqual(valueOf(`k: ${text}\n`), { k: value });
    });
  }
});

describe('collections', () => {
  test('the last of equal keys counts', () => {
    assert.deepEqual(valueOf('a: 1\na: 2\n'), { a: 2 });
  });

  test('a key that looks like a number or a boolean is text', () => {
    assert.deepEqual(valueOf('1: a\ntrue: b\n"x": c\n'), { 1: 'a', true: 'b', x: 'c' });
  });

  test('a list may stand under its key without an indent', () => {
    assert.deepEqual(valueOf('a:\n- b\n- c: 1\n  d: 2\n-\n  - e\nf:\n'), {
      a: ['b', { c: 1, d: 2 }, ['e']],
      f: null,
    });
  });

  test('flow collections go over lines, with comments and commas at the end', () => {
    assert.deepEqual(valueOf('a: {b: [1, x y], # c\n  "d":e,\n}\n'), {
      a: { b: [1, 'x y'], d: 'e' },
    });
  });

  test('blocks keep or fold their lines', () => {
    assert.deepEqual(valueOf('a: |\n  x\n\n    y\nb: |-\n  z\n\nc: >\n  x\n  y\n'), {
      a: 'x\n\n  y\n',
      b: 'z',
      c: 'x y\n',
    });
  });

  test('aliases repeat what they name; << is a key like any other', () => {
    assert.deepEqual(valueOf('a: &x {b: 1}\nc: *x\nd: {<<: *x}\n'), {
      a: { b: 1 },
      c: { b: 1 },
      d: { '<<': { b: 1 } },
    });
  });

  test('an anchor that is set again means the later value from there on', () => {
    assert.deepEqual(valueOf('a: &x 1\nb: *x\nc: &x 2\nd: *x\n'), { a: 1, b: 1, c: 2, d: 2 });
  });

  test('what has the tag !ignore is left out, and its anchors remain', () => {
    assert.deepEqual(valueOf('!ignore a: &x {b: 1}\nc: *x\n'), { c: { b: 1 } });
  });

  test('whatever follows the first document is not looked at', () => {
    assert.deepEqual(valueOf('---\na: 1\n---\n: [broken\n'), { a: 1 });
  });

  test('__proto__ is a key like any other', () => {
    const value = valueOf('__proto__: {x: 1}\n') as object;
    assert.deepEqual(Object.keys(value), ['__proto__']);
  });
});

describe('faults', () => {
  const faults: [name: string, text: string, fault: string][] = [
    [
      'a mapping inside of a line',
      'a: b: c\n',
      '1:4 is no YAML from line 1 on: Nested mappings are not allowed in compact mappings',
    ],
    [
      'a list that is not closed',
      'a: [1, 2\nb: 3\n',
      '2:1 is no YAML from line 2 on: Flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
    [
      'a tab as indent',
      'a:\n\tb: 1\n',
      '2:1 is no YAML from line 2 on: Tabs are not allowed as indentation',
    ],
    ['an alias of nothing', 'a: *x\n', '1:4 alias *x has no anchor'],
    [
      'an alias inside of what it names',
      'a: &x {b: *x}\n',
      '1:11 alias *x is inside of what it names',
    ],
    ['a list as key', '? [a]\n: 1\n', '1:3 a key must be a single value'],
    [
      'an unknown escape',
      'a: "\\q"\n',
      '1:5 is no YAML from line 1 on: Invalid escape sequence \\q',
    ],
  ];
  for (const [name, text, fault] of faults) {
    test(`${name} is refused with its place`, () => {
      assert.equal(faultOf(text), fault);
    });
  }

  test('aliases that multiply are stopped before they fill the memory', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 12; level++) {
      lines.push(
        `a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(', ')}]`,
      );
    }
    assert.match(faultOf(lines.join('\n')), /aliases repeat more than a million values$/);
  });

  test('nesting without end is refused, not a crash', () => {
    assert.match(faultOf('['.repeat(200_000)), /is nested too deeply|is no YAML/);
    assert.match(faultOf('{a: '.repeat(20_000)), /is nested too deeply|is no YAML/);
  });
});

describe('the two readers of YAML', () => {
  const texts = [
    'a: 1\n',
    '# c\n\na:   b c  # d\n',
    '- - a\n  - b\n- c:\n    d: e\n',
    '{a: {b: [c, {d: e}]}, "f": \'g\'}',
    '"a": 1\n',
    'a:\n  b: |\n    x\n   \n    y\n  c: |+\n    z\n\nd: 1\n',
    'a: b\n\n  # c\n\nd: e',
    '---\na: 1\n',
    'x',
    '- a',
    'a: {b: c\n}\n',
  ];
  test('read the usual texts alike', () => {
    for (const text of texts) {
      const fast = readSubset(text);
      assert.ok(fast, `left to the full reader: ${text}`);
      assert.deepEqual(fast, readDocument(text), text);
    }
  });

  test('the fast one leaves what is unusual to the other', () => {
    const unusual = [
      'a: &x 1\n',
      'a: !t 1\n',
      'a: >\n  b\n',
      'a: b\n  c\n',
      'a: "b\n  c"\n',
      '? a\n',
      '%YAML 1.2\n---\n',
      'a:\tb\n',
      'a: [b: c]\n',
      'a: b: c\n',
      'a: 1\n b: 2\n',
      'a: [1\n',
      'a: "b" c\n',
      'a: 1\n...\n',
    ];
    for (const text of unusual) assert.equal(readSubset(text), undefined, text);
  });
});

test('lines that go on within quotes and brackets may be indented as they like', () => {
  const texts: [text: string, value: unknown][] = [
    ['a: "b\nc"\n', { a: 'b c' }],
    ["a: 'b\nc'\n", { a: 'b c' }],
    ['a: {b: c\nd, e: [f,\ng]}\n', { a: { b: 'c d', e: ['f', 'g'] } }],
    ['a: {\n\tb: c, # }\n\td: "#"\n}\n', { a: { b: 'c', d: '#' } }],
    ['a: |\n  "{\n  [\nb: it\'s {\nc: "d\ne"\n', { a: '"{\n[\n', b: "it's {", c: 'd e' }],
    ["- !x \"a\nb\"\n- 'it''s\nc'\n", ['a b', "it's c"]],
  ];
  for (const [text, value] of texts) assert.deepEqual(valueOf(text), value, text);
  assert.match(faultOf('a: "b\nc\n'), /^3:1 is no YAML/);
});
