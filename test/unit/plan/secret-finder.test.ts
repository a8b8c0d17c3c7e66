import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Place } from '../../../src/plan/message/place.js';
import { SecretFinder } from '../../../src/plan/secret-finder.js';

const place = Place.root([]);
const configs = ['a', 'b'].map((name) => ({
  name,
  sds_config: { path_config_source: { path: '/dev/null' }, resource_api_version: 'V3' as const },
}));

function finderOf(come: readonly string[]): SecretFinder {
  const context = { hasNode: true, secrets: { find: () => undefined } };
  return new SecretFinder(context as never, ({ name }) =>
    come.includes(name) ? { secret: { tls_certificate: {} }, place } : undefined,
  );
}

test('a secret that has not come is waited for', () => {
  const finder = finderOf(['a']);
  assert.notEqual(finder.find('tls_certificate', configs[0]!, place), 'pending');
  assert.equal(finder.isPending, false);
  assert.equal(finder.find('tls_certificate', configs[1]!, place), 'pending');
  assert.equal(finder.isPending, true);
});

test('of some that stand for each other one is enough, and all are asked for', () => {
  const pendingOf = (come: readonly string[]): boolean => {
    const finder = finderOf(come);
    finder.findSome('tls_certificate', configs, place);
    assert.deepEqual(
      finder.requests.map(({ name }) => name),
      ['a', 'b'],
    );
    return finder.isPending;
  };
  assert.equal(pendingOf([]), true);
  assert.equal(pendingOf(['b']), false);
  assert.equal(pendingOf(['a', 'b']), false);
});
