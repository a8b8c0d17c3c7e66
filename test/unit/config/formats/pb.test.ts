import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { formatIssue } from '../../../../src/config/issues/issue.js';
import { loadBootstrap, type LoadOptions } from '../../../../src/config/load.js';
import { packageRoot } from '../../../../src/base/package-root.js';
import { printMessage } from '../../../../src/config/print.js';
import { schema } from '../../../../src/config/schema/schema.js';
import { binaryOf } from '../../support/binary.js';
import { folderOf } from '../../support/folder.js';

type Bytes = readonly number[];

const text = (value: string): Bytes => [...Buffer.from(value)];
const field = (number: number, ...values: Bytes[]): Bytes => {
  const body = values.flat();
  return [...varint(number * 8 + 2), ...varint(body.length), ...body];
};
const number = (at: number, value: number): Bytes => [...varint(at * 8), ...varint(value)];

function varint(value: number): Bytes {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

function load(t: TestContext, bytes: Bytes, options: LoadOptions = {}) {
  const folder = folderOf(t);
  const path = join(folder, 'boot.pb');
  writeFileSync(path, Uint8Array.from(bytes));
  const { bootstrap, issues } = loadBootstrap({ path }, options);
  return { bootstrap, issues, problems: issues.map(formatIssue) };
}

const node = (...fields: Bytes[]): Bytes => field(1, ...fields);
const cluster = (...fields: Bytes[]): Bytes => field(2, field(2, field(1, text('c')), ...fields));

/** A Struct in a Struct, and so on. */
function deep(levels: number): Bytes {
  let value: Bytes = [];
  for (let level = 0; level < levels; level++)
    value = field(1, text('k')).concat(field(2, field(5, field(1, value))));
  return field(1, field(3, field(1, value)));
}

describe('the binary format', () => {
  test('texts, numbers, enums, durations and wrappers', (t) => {
    const bytes = cluster(
      number(2, 1),
      field(4, number(1, 1), number(2, 500_000_000)),
      field(5, number(1, 300)),
    );
    assert.deepEqual(load(t, bytes).bootstrap?.static_resources?.clusters, [
      {
        name: 'c',
        type: 'STRICT_DNS',
        connect_timeout: 1500,
        per_connection_buffer_limit_bytes: 300,
      },
    ]);
  });

  test('a Struct is a plain value', (t) => {
    const value = field(2, field(6, field(1, number(4, 1)), field(1, field(3, text('x')))));
    const bytes = node(field(3, field(1, field(1, text('k')), value)));
    assert.deepEqual(load(t, bytes).bootstrap?.node?.metadata, { k: [true, 'x'] });
  });

  test('an Any holds its message', (t) => {
    const type = 'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext';
    const any = [field(1, text(`type.googleapis.com/${type}`)), field(2, field(2, text('s')))];
    const bytes = cluster(field(24, field(1, text('tls')), field(3, ...any)));
    const [first] = load(t, bytes).bootstrap?.static_resources?.clusters ?? [];
    assert.deepEqual(first?.transport_socket?.typed_config, { $type: type, sni: 's' });
  });

  test('a message in parts is merged', (t) => {
    const bytes = [...node(field(1, text('a'))), ...node(field(2, text('b')))];
    assert.deepEqual(load(t, bytes).bootstrap?.node, { id: 'a', cluster: 'b' });
  });

  test('an unknown field is named by its number, in its message', (t) => {
    const { problems, bootstrap } = load(t, node(field(99, text('a'))));
    assert.deepEqual(problems, ['node["99"]: unknown field of envoy.config.core.v3.Node']);
    assert.equal(bootstrap, undefined);
  });

  test('unknown fields that are allowed are one warning each, to be counted', (t) => {
    const bytes = [...node(number(98, 1), number(99, 1)), ...number(97, 1)];
    const { issues, bootstrap } = load(t, bytes, { unknownFields: 'warning' });
    assert.deepEqual(
      issues.map(({ severity, code }) => [severity, code]),
      Array.from({ length: 3 }, () => ['warning', 'unknown_field']),
    );
    assert.ok(bootstrap);
  });

  test('bytes that end early are warned of, and what came before is used, as the real server does', (t) => {
    const bytes = [...node(field(1, text('a'))), ...cluster(field(5, number(1, 3)))];
    const { problems, bootstrap } = load(t, bytes.slice(0, -1));
    assert.deepEqual(problems, [
      'static_resources.clusters[0].per_connection_buffer_limit_bytes.value: is no binary protobuf: the bytes end early at byte 15',
    ]);
    assert.deepEqual(bootstrap?.node, { id: 'a' });
    assert.deepEqual(bootstrap?.static_resources?.clusters, [
      { name: 'c', per_connection_buffer_limit_bytes: 0 },
    ]);
  });

  for (const [what, bytes, problem] of [
    ['a wire type that there is not', [0x0a, 2, 0x0e, 0], 'node: … there is no such wire type'],
    ['a field without a number', [0x0a, 1, 0], 'node: … no field has this number'],
    ['a text that is no UTF-8', [0x0a, 3, 0x0a, 1, 0xff], 'node.id: … a string is no UTF-8'],
    [
      'a number that never ends',
      cluster([0x10, ...Array<number>(11).fill(0xff)]),
      'static_resources.clusters[0].type: … a number is too long',
    ],
    ['a group that does not end', [0x13, 0x0c], '… a group ends that did not begin'],
    [
      'messages that are too deep',
      deep(102),
      /^node\.metadata\..* nested more than 100 messages deep/,
    ],
  ] as const) {
    test(`${what} is told by its field`, (t) => {
      const { problems } = load(t, bytes, { unknownFields: 'warning' });
      const said = problems
        .map((line) => line.replace('is no binary protobuf: ', '… ').replace(/ at byte \d+$/, ''))
        .find((line) => line.includes('…'));
      if (typeof problem === 'string') assert.equal(said, problem);
      else assert.match(said ?? '', problem);
    });
  }

  test('an Any that cannot be read is an error, with the way to it', (t) => {
    const type = 'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext';
    const any = [field(1, text(`type.googleapis.com/${type}`)), field(2, field(2, [0xff]))];
    const bytes = cluster(field(24, field(1, text('tls')), field(3, ...any)));
    assert.deepEqual(load(t, bytes).problems, [
      'static_resources.clusters[0].transport_socket.typed_config.sni: is no binary protobuf: a string is no UTF-8 at byte 1',
    ]);
  });

  test('of a oneof the last counts, of a map the last of each key', (t) => {
    const socket = field(1, field(2, text('a')), number(3, 1));
    const bytes = field(12, field(3, socket, field(2, field(1, text('/p')))));
    const { bootstrap } = load(t, bytes, { unknownFields: 'warning' });
    assert.deepEqual(bootstrap?.admin?.address, { pipe: { path: '/p' } });
    const entry = (n: number) => field(1, field(1, text('k')), field(2, number(4, n)));
    const node = field(1, field(3, entry(0), entry(1)));
    assert.deepEqual(load(t, node).bootstrap?.node?.metadata, { k: true });
  });

  test('the examples are the same in binary', (t) => {
    const type = schema().getMessage('envoy.config.bootstrap.v3.Bootstrap');
    const folder = join(packageRoot(), 'examples');
    const names = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
    assert.notEqual(names.length, 0);
    for (const name of names) {
      const { bootstrap } = loadBootstrap({ path: join(folder, name) });
      const printed = printMessage(schema(), type, { ...bootstrap });
      const binary = load(t, [...binaryOf(schema(), type.name, printed)]).bootstrap;
      assert.deepEqual(printMessage(schema(), type, { ...binary }), printed, name);
    }
  });

  test('v2 is upgraded: hosts are endpoints', (t) => {
    const address = field(1, field(2, text('a')), number(3, 80));
    const [first] =
      load(t, cluster(field(4, number(1, 1)), field(7, address))).bootstrap?.static_resources
        ?.clusters ?? [];
    assert.deepEqual(first?.load_assignment?.endpoints, [
      {
        lb_endpoints: [
          { endpoint: { address: { socket_address: { address: 'a', port_value: 80 } } } },
        ],
      },
    ]);
  });
});
