import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Issue } from '../../../src/config/issues/issue.js';
import { compileStateValues } from '../../../src/plan/filter-state.js';
import { Place } from '../../../src/plan/message/place.js';
import { FilterStateValue_Kind as Kind } from '../../../src/plan/plan.gen.js';

const FORMAT = { text_format_source: { inline_string: 'x' } };

function made(value: object, use: 'tcp_log' | 'http_log') {
  const issues: Issue[] = [];
  const message = { format_string: FORMAT, ...value };
  const values = compileStateValues([message], Place.root(issues), use, undefined);
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

test('keys that others ask for make values of their kinds, for connections and requests', () => {
  const kindOf = (object_key: string) => {
    const { values, issues } = made({ object_key }, 'http_log');
    assert.equal(issues, '');
    return values[0]?.kind;
  };
  assert.equal(kindOf('envoy.upstream.dynamic_host'), Kind.TEXT);
  assert.equal(kindOf('envoy.upstream.dynamic_port'), Kind.UINT32);
  assert.equal(kindOf('envoy.network.upstream_server_name'), Kind.UNTOLD_TEXT);
  assert.equal(kindOf('envoy.network.upstream_subject_alt_names'), Kind.UNTOLD_TEXT);
  assert.equal(kindOf('envoy.network.application_protocols'), Kind.PROTOCOLS);
});

test('what nobody makes is refused', () => {
  for (const key of ['k', 'constructor']) {
    assert.match(
      made({ object_key: key }, 'tcp_log').issues,
      new RegExp(`object_key: '${key}' does not have an object factory`),
    );
  }
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

test('what a text must be says its factory, and only of requests or connections some', () => {
  const kindOf = (key: string, use: 'tcp_log' | 'http_log') =>
    made({ object_key: 'k', factory_key: key }, use).values[0]?.kind;
  assert.equal(kindOf('envoy.bool', 'http_log'), Kind.BOOL);
  assert.equal(kindOf('envoy.ratelimit.hits_addend', 'http_log'), Kind.UINT32);
  assert.equal(
    kindOf('envoy.network.transport_socket.original_dst_address', 'tcp_log'),
    Kind.ADDRESS,
  );
  assert.match(
    made({ object_key: 'envoy.tcp_proxy.disable_tunneling' }, 'tcp_log').issues,
    /is not supported yet/,
  );
});

test('a text is made by formats of every kind', () => {
  const { values, issues } = made(
    {
      object_key: 'k',
      factory_key: 'envoy.string',
      format_string: { json_format: { a: '%PROTOCOL%' }, content_type: 'text/plain' },
    },
    'http_log',
  );
  assert.equal(issues, '');
  assert.ok(values[0]?.value?.json);
});
