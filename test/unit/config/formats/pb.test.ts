import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { formatIssue } from '../../../../src/config/issues/issue.js';
import { loadBootstrap, type LoadOptions } from '../../../../src/config/load.js';

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
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-pb-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'boot.pb');
  writeFileSync(path, Uint8Array.from(bytes));
  const { bootstrap, issues } = loadBootstrap({ path }, options);
  return { bootstrap, issues, problems: issues.map(formatIssue) };
}

const node = (...fields: Bytes[]): Bytes => field(1, ...fields);
const cluster = (...fields: Bytes[]): Bytes => field(2, field(2, field(1, text('c')), ...fields));

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

  test('bytes that end early are warned of, and what came before is used', (t) => {
    const { problems, bootstrap } = load(t, [...node(field(1, text('a'))), 0x12, 9, 1]);
    assert.deepEqual(problems, [
      'static_resources: is no binary protobuf: the bytes end early at byte 7',
    ]);
    assert.deepEqual(bootstrap?.node, { id: 'a' });
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
