import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeMessage } from '../../../src/config/merge.js';
import { schema } from '../../../src/config/schema/schema.js';

function merged(
  name: string,
  into: Record<string, unknown>,
  from: Record<string, unknown>,
): unknown {
  mergeMessage(schema().getMessage(name), into, from);
  return into;
}

const CLUSTER = 'envoy.config.cluster.v3.Cluster';

test('a member of a oneof has presence: its default counts, and the other members go', () => {
  const into = { path: '/a', case_sensitive: true };
  assert.deepEqual(merged('envoy.config.route.v3.RouteMatch', into, { prefix: '' }), {
    prefix: '',
    case_sensitive: true,
  });
});

test('a wrapper is a message: what is its default leaves it as it was', () => {
  const into = { per_connection_buffer_limit_bytes: 5 };
  assert.deepEqual(merged(CLUSTER, into, { per_connection_buffer_limit_bytes: 0 }), into);
  assert.deepEqual(merged(CLUSTER, {}, { per_connection_buffer_limit_bytes: 0 }), {
    per_connection_buffer_limit_bytes: 0,
  });
});

test('seconds and nanoseconds of a duration are merged apart', () => {
  assert.deepEqual(merged(CLUSTER, { connect_timeout: 1500 }, { connect_timeout: 2000 }), {
    connect_timeout: 2500,
  });
  assert.deepEqual(merged(CLUSTER, { connect_timeout: 1500 }, { connect_timeout: 2250 }), {
    connect_timeout: 2250,
  });
});

test('an enum without presence keeps its value when its default is merged', () => {
  assert.deepEqual(merged(CLUSTER, { lb_policy: 'RANDOM' }, { lb_policy: 'ROUND_ROBIN' }), {
    lb_policy: 'RANDOM',
  });
});

test('messages merge field by field, an Any is replaced', () => {
  const socket = (type: string) => ({ name: 'x', typed_config: { $type: type, a: 1 } });
  assert.deepEqual(
    merged(
      CLUSTER,
      { transport_socket: socket('a.A') },
      { transport_socket: { typed_config: { $type: 'b.B' } } },
    ),
    { transport_socket: { name: 'x', typed_config: { $type: 'b.B' } } },
  );
});

test('map entries are replaced by key, and a key may be called __proto__', () => {
  const entry = JSON.parse('{"__proto__": {"x": 1}, "b": {"y": 2}}') as Record<string, unknown>;
  const result = merged(
    'envoy.config.core.v3.Metadata',
    { filter_metadata: { a: { x: 1 }, b: { x: 1 } } },
    { filter_metadata: entry },
  );
  const metadata = (result as { filter_metadata: Record<string, unknown> }).filter_metadata;
  assert.deepEqual(Object.keys(metadata), ['a', 'b', '__proto__']);
  assert.deepEqual(metadata['b'], { y: 2 });
});
