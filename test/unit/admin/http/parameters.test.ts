import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseParameters } from '../../../../src/admin/http/parameters.js';

const parsed = (text: string): Record<string, string> => Object.fromEntries(parseParameters(text));

test('names and values are decoded, a plus sign stays', () => {
  assert.deepEqual(parsed('a%20b=c%3Dd+e&flag&empty='), { 'a b': 'c=d+e', flag: '', empty: '' });
});

test('the first value of a name counts', () => {
  assert.deepEqual(parsed('a=1&a=2&b=4'), { a: '1', b: '4' });
});

test('percent signs that are no code stay, bytes that are no UTF-8 are replaced', () => {
  assert.deepEqual(parsed('a=100%&b=%zz%41&c=%ff%42'), { a: '100%', b: '%zzA', c: '\ufffdB' });
});
