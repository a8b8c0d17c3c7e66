import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scopeText } from '../../../src/stats/stat-names.js';

test('colons of names do not get into those of statistics', () => {
  assert.equal(scopeText('xdstp://a/b:/c:d'), 'xdstp_a/b_c_d');
  assert.equal(scopeText('a.b'), 'a.b');
});
