import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  canonicalName,
  collectionOf,
  encodeContext,
  parseResourceName,
  writeResourceName,
} from '../../../src/plan/resource-name.js';

test('a name has an authority, a type, an id and a context', () => {
  const name = parseResourceName('xdstp://auth/a.B/some/path/*?b=2&a=1&c#entry=x');
  assert.deepEqual(name, {
    authority: 'auth',
    type: 'a.B',
    id: 'some/path/*',
    context: new Map([
      ['b', '2'],
      ['a', '1'],
      ['c', ''],
    ]),
  });
  assert.equal(name && writeResourceName(name), 'xdstp://auth/a.B/some/path/*?a=1&b=2&c=');
  assert.equal(parseResourceName('xdstp:///a.B')?.authority, '');
  for (const other of ['a', 'http://a/b', 'xdstp:/a', 'xdstp://a']) {
    assert.equal(parseResourceName(other), undefined);
  }
});

test('one name is spelled one way, and others stay as they are', () => {
  assert.equal(canonicalName('xdstp://a/T/x?b=2&a=1'), 'xdstp://a/T/x?a=1&b=2');
  assert.equal(canonicalName('plain?b=2&a=1'), 'plain?b=2&a=1');
  assert.equal(canonicalName('xdstp://a/T/c%20d/%41%3a%7e'), 'xdstp://a/T/c d/A:%7E');
  assert.equal(canonicalName('xdstp://a/T/ä%zz'), 'xdstp://a/T/%C3%A4%25zz');
  assert.equal(encodeContext('a=b&c%'), 'a%3Db%26c%25');
});

test('a resource is in the collection of its path and context', () => {
  assert.equal(collectionOf('xdstp://a/T/x/y?b=2&a=1'), 'xdstp://a/T/x/*?a=1&b=2');
  assert.equal(collectionOf('xdstp://a/T/x'), 'xdstp://a/T/*');
  assert.equal(collectionOf('plain/x'), undefined);
});
