import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileStatic, issuesOf } from '../helpers.js';

function sourcesOf(upstream_bind_config: object) {
  const compiled = compileStatic({ clusters: [{ name: 'c', upstream_bind_config }] });
  const sources = compiled.update.clusters?.[0]?.sources?.map(({ address, ...rest }) => ({
    ip: address?.ip?.join('.'),
    options: rest.socket_options?.map(({ name }) => name),
    freebind: rest.freebind,
  }));
  return { issues: issuesOf(compiled), sources };
}

const at = (address: string) => ({ address, port_value: 0 });

test('each family has its source, with options of its own where it says so', () => {
  const { issues, sources } = sourcesOf({
    source_address: at('192.0.2.1'),
    freebind: true,
    socket_options: [
      { level: 1, name: 2, int_value: 1 },
      { level: 1, name: 3, int_value: 1, type: { datagram: {} } },
    ],
    extra_source_addresses: [
      {
        address: at('::1'),
        socket_options: { socket_options: [{ level: 1, name: 4, int_value: 1 }] },
      },
    ],
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(sources, [
    { ip: '192.0.2.1', options: [2], freebind: true },
    { ip: '0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1', options: [4], freebind: true },
  ]);
});

test('options need no source address', () => {
  const { issues, sources } = sourcesOf({ socket_options: [{ level: 1, name: 9, int_value: 1 }] });
  assert.deepEqual(issues, []);
  assert.deepEqual(sources, [{ ip: undefined, options: [9], freebind: undefined }]);
});

test('what the real server does not take together is refused in its words', () => {
  const texts: [object, RegExp][] = [
    [
      { source_address: at('127.0.0.1'), extra_source_addresses: [{ address: at('127.0.0.2') }] },
      /two same IP version source addresses/,
    ],
    [
      {
        source_address: at('127.0.0.1'),
        extra_source_addresses: [{ address: at('::1') }, { address: at('::2') }],
      },
      /more than one extra\/additional source addresses/,
    ],
    [{ extra_source_addresses: [{ address: at('::1') }] }, /but no source_address/],
    [
      {
        source_address: at('127.0.0.1'),
        extra_source_addresses: [{ address: at('::1') }],
        additional_source_addresses: [at('::1')],
      },
      /Can't specify both `extra_source_addresses` and `additional_source_addresses`/,
    ],
  ];
  for (const [config, text] of texts) assert.match(sourcesOf(config).issues.join('\n'), text);
});
