import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Issue } from '../../../../src/config/issues/issue.js';
import { countUnknownFields } from '../../../../src/config/issues/unknown-fields.js';

function unknown(path: string, file?: string): Issue {
  const position = file === undefined ? {} : { position: { file, line: 1, column: 1 } };
  return { severity: 'warning', code: 'unknown_field', path, message: 'unknown', ...position };
}

test('a text counts once, however many fields of it are unknown', () => {
  assert.equal(countUnknownFields([]), 0);
  assert.equal(countUnknownFields([unknown('a', 'x.yaml'), unknown('b.c', 'x.yaml')]), 1);
  assert.equal(countUnknownFields([unknown('a', 'x.yaml'), unknown('a', '--config-yaml')]), 2);
});

test('of a binary file each message counts that has unknown fields', () => {
  const issues = ['["903"]', '["904"]', 'node["901"]', 'node["902"]', 'admin["900"]'];
  assert.equal(countUnknownFields(issues.map((path) => unknown(path))), 3);
});

test('of binary messages each kind counts that has other unknown fields', () => {
  const count = (...paths: readonly string[]): number =>
    countUnknownFields(paths.map((path) => unknown(path)));
  assert.equal(count('all[0].one["901"]', 'all[1].one["901"]'), 1);
  assert.equal(count('all[0].one["901"]', 'all[1].one["902"]'), 2);
  assert.equal(count('all[0].one["901"]', 'all[1].one["901"]', 'all[1].one["902"]'), 2);
  assert.equal(count('all[0].one["901"]', 'all[1].two["901"]'), 2);
});

test('a text with the name of a value that there is not counts, too', () => {
  const value = { ...unknown('a', 'x.yaml'), code: 'unknown_value' as const };
  assert.equal(countUnknownFields([value]), 1);
  assert.equal(countUnknownFields([value, unknown('b', 'x.yaml')]), 1);
});

test('other issues do not count', () => {
  assert.equal(countUnknownFields([{ severity: 'warning', path: 'a', message: 'late' }]), 0);
});
