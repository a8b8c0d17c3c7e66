import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compile, issuesOf, socketAddress } from '../helpers.js';

const EXTENSION = 'envoy.extensions.bootstrap.internal_listener.v3.InternalListener';
const ECHO = {
  name: 'echo',
  typed_config: any('envoy.extensions.filters.network.echo.v3.Echo'),
};

function compileListener(fields: object, extension: object | null = {}) {
  const compiled = compile({
    ...(extension && {
      bootstrap_extensions: [{ name: 'i', typed_config: any(EXTENSION, extension) }],
    }),
    static_resources: {
      listeners: [
        { name: 'in', internal_listener: {}, filter_chains: [{ filters: [ECHO] }], ...fields },
      ],
    },
  });
  return { issues: issuesOf(compiled), listener: compiled.update.listeners?.[0] };
}

test('an internal listener is known by its name, and has no socket', () => {
  const { issues, listener } = compileListener({}, { buffer_size_kb: 64 });
  assert.deepEqual(issues, []);
  assert.deepEqual(listener?.address, { internal_listener: 'in' });
  assert.equal(listener?.stat_name, 'envoy_internal_in');
  assert.equal(listener?.unbound, true);
  assert.equal(listener?.internal_buffer_bytes, 65_536);
});

test('what an internal listener cannot have is refused in the words of the real server', () => {
  const without = compileListener({}, null);
  assert.match(without.issues.join(), /InternalListener bootstrap extension is mandatory/);
  const refused: [object, RegExp][] = [
    [{ address: socketAddress(1) }, /address should not be used when an internal listener/],
    [{ socket_options: [{ level: 1, name: 2 }] }, /does not support socket option/],
    [
      {
        internal_listener: undefined,
        address: { envoy_internal_address: { server_listener_name: 'in' } },
      },
      /use internal_listener field instead of address/,
    ],
  ];
  for (const [fields, text] of refused) assert.match(compileListener(fields).issues.join(), text);
});
