import assert from 'node:assert/strict';
import { test } from 'node:test';
import { yamlFormat } from '../../../../../src/config/formats/yaml/yaml-format.js';
import { yamlError } from '../../../../../src/config/formats/yaml/yaml-words.js';

/** As the real server answers them. */
const SAID: Readonly<Record<string, string>> = {
  '"abc': '1, column 5: illegal EOF in scalar',
  'x: "abc': '1, column 8: illegal EOF in scalar',
  'a: "b\nc: d': '2, column 5: illegal EOF in scalar',
  '[1': '1, column 1: end of sequence flow not found',
  '[1,\n2': '2, column 1: end of sequence flow not found',
  '{a\nb': '2, column 1: end of map flow not found',
  'a: {b: c': '1, column 1: end of map flow not found',
  '[a, b}': '1, column 6: illegal flow end',
  ']': '1, column 1: illegal flow end',
  'a: ]': '1, column 4: illegal flow end',
  '{}}': '1, column 3: illegal flow end',
  'a: *x': '1, column 4: the referenced anchor is not defined: x',
  'a: @x': '1, column 4: unknown token',
  'a: |x': '1, column 5: unexpected character in block scalar',
  '>-x': '1, column 3: unexpected character in block scalar',
  'a: &': '1, column 5: anchor not found after &',
  '*': '1, column 2: alias not found after *',
  ',x': '1, column 1: plain value cannot start with flow indicator character',
  'a: ,x': '1, column 4: end of map not found',
  'k:\n  a: b: c': '2, column 7: illegal map value',
  'a\nb: c': '2, column 2: illegal map value',
  'a:\n\tb: c': '2, column 3: illegal map value',
  'a: b\n- c': '2, column 1: end of map not found',
  '"a" b': '1, column 5: unexpected scalar',
  '"\\q"': '1, column 4: unknown escape character: q',
};

test('a text that is no YAML is refused in the words of the real server, with its places', () => {
  for (const [text, said] of Object.entries(SAID)) {
    const read = yamlFormat.read(text);
    assert.ok(!read.ok, text);
    assert.equal(yamlError(text, read.fault), `yaml-cpp: error at line ${said}`, text);
  }
});
