import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Issue } from '../../../src/config/issues/issue.js';
import { compileStateValues } from '../../../src/plan/filter-state.js';
import { Place } from '../../../src/plan/message/place.js';

const FORMAT = { text_format_source: { inline_string: 'x' } };

function made(value: object, use: 'tcp_log' | 'http_log') {
  const issues: Issue[] = [];
  const values = compileStateValues([{ format_string: FORMAT, ...value }], Place.root(issues), use);
  return { values, issues: issues.map(({ path, message }) => `${path}: ${message}`).join() };
}

test('a value is made by its factory, or by the one that is called as it is', () => {
  const { values, issues } = made(
    { object_key: 'k', factory_key: 'envoy.string', read_only: true },
    'tcp_log',
  );
  assert.equal(issues, '');
  assert.equal(values[0]?.key, 'k');
  assert.equal(values[0].read_only, true);
  assert.equal(made({ object_key: 'envoy.tcp_proxy.cluster' }, 'tcp_log').issues, '');
});

test('what nobody makes is refused', () => {
  assert.match(
    made({ object_key: 'k' }, 'tcp_log').issues,
    /object_key: 'k' does not have an object factory/,
  );
  assert.match(
    made({ object_key: 'k', factory_key: 'envoy.other' }, 'tcp_log').issues,
    /factory_key: filter state of 'envoy\.other' is not supported yet/,
  );
});

test('what is shared with hosts goes once or on and on, and keeps requests apart if it is hashable', () => {
  const shared = (value: object) => {
    const [made_] = made({ object_key: 'k', ...value }, 'http_log').values;
    return [made_?.is_shared, made_?.goes_on, made_?.is_hashable];
  };
  assert.deepEqual(shared({ factory_key: 'envoy.hashable_string' }), [false, false, true]);
  assert.deepEqual(shared({ factory_key: 'envoy.string', shared_with_upstream: 'ONCE' }), [
    true,
    false,
    false,
  ]);
  assert.deepEqual(
    shared({ factory_key: 'envoy.hashable_string', shared_with_upstream: 'TRANSITIVE' }),
    [true, true, true],
  );
});

test('requests may keep what hosts are asked for, and where they are', () => {
  for (const key of [
    'envoy.network.upstream_server_name',
    'envoy.network.transport_socket.original_dst_address',
  ]) {
    assert.equal(made({ object_key: key }, 'http_log').issues, '');
    assert.equal(made({ object_key: key }, 'tcp_log').issues, '');
  }
});
