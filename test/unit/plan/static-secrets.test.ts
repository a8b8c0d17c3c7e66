import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StaticSecrets } from '../../../src/plan/static-secrets.js';
import { Place } from '../../../src/plan/message/place.js';
import type { Issue } from '../../../src/config/issues/issue.js';

function issuesOf(secrets: ConstructorParameters<typeof StaticSecrets>[0]): string[] {
  const issues: Issue[] = [];
  new StaticSecrets(secrets, Place.root(issues).field('secrets'));
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

test('a secret is found by its kind and its name; another one is suggested', () => {
  const issues: Issue[] = [];
  const place = Place.root(issues);
  const authority = { name: 'authority', validation_context: { max_verify_depth: 1 } };
  const secrets = new StaticSecrets([WORD, authority], place.field('secrets'));
  assert.deepEqual(
    secrets.find('validation_context', { name: 'authority' }, place)?.message,
    authority.validation_context,
  );
  assert.equal(secrets.find('tls_certificate', { name: 'authority' }, place), undefined);
  assert.equal(secrets.find('validation_context', { name: 'autority' }, place), undefined);
  assert.deepEqual(
    issues.map(({ message, suggestion }) => [message, suggestion]),
    [
      ['Unknown static TlsCertificate secret: authority', undefined],
      ['Unknown static CertificateValidationContext secret: autority', 'authority'],
    ],
  );
});
