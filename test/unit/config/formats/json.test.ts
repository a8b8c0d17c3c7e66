import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { jsonFormat } from '../../../../src/config/formats/json-format.js';
import { JsonReader } from '../../../../src/config/formats/json-reader.js';
import { LineIndex } from '../../../../src/config/issues/value-position.js';

function faultOf(text: string): string {
  const read = jsonFormat.read(text);
  assert.ok(!read.ok, 'it was read');
  const { line, column } = new LineIndex(text).position(read.fault.offset);
  return `${line}:${column} ${read.fault.message}`;
}

describe('JSON', () => {
  test('what Envoy takes besides JSON is taken: commas at the end, single quotes, keys without quotes', () => {
    const read = jsonFormat.read(`{node: {'id': 'a"\\'', "tags": [1, 2,], "two": "lines\n"},}`);
    const node = { id: `a"'`, tags: [1, 2], two: 'lines\n' };
    assert.deepEqual(read, { ok: true, value: { node } });
  });

  const faults: [name: string, text: string, fault: string][] = [
    ['an empty text', '', '1:1 is no JSON: the text ends early'],
    ['an object that is not closed', '{\n  "a": 1', '2:9 is no JSON: the text ends early'],
    ['a missing comma', '{\n  "a": 1\n  "b": 2\n}', '3:3 is no JSON: expected "," or "}"'],
    ['a missing colon', '{"a" 1}', '1:6 is no JSON: expected ":" after the key'],
    ['two commas', '[1,,2]', '1:4 is no JSON: expected a value, found ",2]"'],
    ['a comment', '// x\n{}', '1:1 is no JSON: expected a value, found "// x"'],
    ['YAML', 'a: 1\n', '1:1 is no JSON: expected a value, found "a: 1"'],
    ['a word', '{"a": yes}', '1:7 is no JSON: expected a value, found "yes}"'],
    ['more than one value', '{} {}', '1:4 is no JSON: something follows the end of the value'],
    ['half of a character', '["\\ud83dx"]', '1:9 is no JSON: a \\u is half of a character'],
    ['the other half', '["\\udc00"]', '1:9 is no JSON: a \\u is half of a character'],
    ['a string that is not closed', '["a', '1:4 is no JSON: the text ends early'],
    ['an unknown escape', '["\\q"]', '1:3 is no JSON: unknown escape \\q'],
    ['a short \\u', '["\\u12"]', '1:3 is no JSON: expected four hexadecimal digits after \\u'],
  ];
  for (const [name, text, fault] of faults) {
    test(`${name} is refused with its place`, () => {
      assert.equal(faultOf(text), fault);
    });
  }

  test('nesting without end is refused, not a crash', () => {
    const text = '['.repeat(100_000);
    assert.match(faultOf(text), /is nested too deeply$/);
  });

  test('our reader and JSON.parse read the same', () => {
    const text =
      ' {"a": [1, -2.5e3, true, false, null, "x\\n\\u00e9\\\\"], "b": {"__proto__": {}}, "a2": {}, "c": ""} ';
    assert.deepEqual(new JsonReader(text).read(), { ok: true, value: JSON.parse(text) as unknown });
  });

  test('each value has its place', () => {
    const places = jsonFormat.places('{"a": [1, {"b": "c"}]}');
    const inner = places?.entries?.get('a')?.items?.[1];
    assert.deepEqual(
      [inner?.offset, inner?.entries?.get('b')?.keyOffset, inner?.entries?.get('b')?.offset],
      [10, 11, 16],
    );
  });
});
