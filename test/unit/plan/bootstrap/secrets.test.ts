import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSecrets } from '../../../../src/plan/bootstrap/secrets.js';
import { Place } from '../../../../src/plan/message/place.js';
import type { Issue } from '../../../../src/config/issues/issue.js';

function issuesOf(secrets: Parameters<typeof checkSecrets>[0]): string[] {
  const issues: Issue[] = [];
  checkSecrets(secrets, Place.root(issues).field('secrets'));
  return issues.map(({ path, message }) => `${path}: ${message}`);
}

const WORD = { name: 'a', generic_secret: { secret: { inline_string: 'x' } } };

test('names differ within a kind of secret, not beyond', () => {
  assert.deepEqual(issuesOf([WORD, { name: 'a', validation_context: {} }]), []);
  assert.deepEqual(issuesOf([WORD, WORD]), [
    'secrets[1].name: Duplicate static GenericSecret secret name a',
  ]);
});

test('a secret of no kind is refused', () => {
  assert.deepEqual(issuesOf([{ name: 'a' }]), ['secrets[0]: Secret type not implemented']);
});
