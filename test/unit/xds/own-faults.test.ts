import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Issue } from '../../../src/config/issues/issue.js';
import { sortFaults } from '../../../src/xds/own-faults.js';

const error = (path: string): Issue => ({ severity: 'error', path, message: 'is required' });

const manager = { $type: 'Manager' };
const first = { $type: 'Listener', filters: [{ typed_config: { $type: 'Echo' } }] };
const second = { $type: 'Listener', filters: [{ typed_config: manager }] };
const root = { resources: [first, second] };

test('what is wrong in an Any of a resource is its own', () => {
  const faults = sortFaults(
    [
      error('resources[1].filters[0].typed_config.stat_prefix'),
      error('resources[1].filters[0].typed_config'),
    ],
    root,
    root.resources,
  );
  assert.deepEqual(
    [...(faults ?? [])].map(([owner, { length }]) => [owner, length]),
    [[second, 2]],
  );
});

test('an Any of a type that nobody knows is wrong in its resource alone', () => {
  const odd = { $type: 'Listener', filters: [{ name: 'odd' }] };
  const unread = error('resources[1].filters[0].typed_config["@type"]');
  const both = { resources: [first, odd] };
  assert.deepEqual([...(sortFaults([unread], both, both.resources)?.keys() ?? [])], [odd]);
  const own = error('filters[0].typed_config["@type"]');
  assert.deepEqual([...(sortFaults([own], odd, [odd])?.keys() ?? [])], [odd]);
  // The resource itself is of such a type.
  assert.equal(sortFaults([error('["@type"]')], odd, [odd]), undefined);
  assert.equal(sortFaults([error('resources[0]["@type"]')], both, both.resources), undefined);
});

test('what is wrong anywhere else is everybody’s', () => {
  for (const path of [
    'resources[0].address',
    'resources[1]',
    'version_info',
    'resources[7].name',
  ]) {
    const own = error('resources[0].filters[0].typed_config.x');
    assert.equal(sortFaults([own, error(path)], root, root.resources), undefined);
  }
});

test('a message that came by itself is a resource', () => {
  const faults = sortFaults([error('filters[0].typed_config.stat_prefix')], second, [second]);
  assert.equal(faults?.get(second)?.length, 1);
  assert.equal(sortFaults([error('address')], second, [second]), undefined);
});
