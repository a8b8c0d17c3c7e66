import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMessage } from '../../../src/config/decode.js';
import { encodeAny } from '../../../src/config/encode.js';
import { readAny } from '../../../src/config/formats/pb.js';
import { schema } from '../../../src/config/schema/schema.js';

const types = schema();

/** As the decoder gives it. */
function decoded(any: object): Record<string, unknown> {
  const metadata = types.getMessage('envoy.config.core.v3.Metadata');
  const { message, issues } = decodeMessage(types, metadata, {
    typed_filter_metadata: { a: any },
  });
  assert.deepEqual(issues, []);
  return (message['typed_filter_metadata'] as Record<string, Record<string, unknown>>)['a']!;
}

function bytesOf(name: string, fields: object): string {
  const any = encodeAny(decoded({ '@type': `type.googleapis.com/${name}`, ...fields }));
  assert.equal(any.type_url, `type.googleapis.com/${name}`);
  return Buffer.from(any.value).toString('hex');
}

test('well-known types are written as they are', () => {
  assert.equal(bytesOf('google.protobuf.StringValue', { value: 'ab' }), '0a026162');
  assert.equal(bytesOf('google.protobuf.Int64Value', { value: -1 }), '08ffffffffffffffffff01');
  assert.equal(bytesOf('google.protobuf.Duration', { value: '1.5s' }), '08011080cab5ee01');
  assert.equal(bytesOf('google.protobuf.Empty', {}), '');
  assert.equal(
    bytesOf('google.protobuf.Struct', { value: { b: true, a: [null] } }),
    '0a0b0a0161120632040a0208000a070a016212022001',
  );
});

test('messages come back as they were', () => {
  const address = {
    address: '10.0.0.1',
    port_value: 80,
    ipv4_compat: true,
    protocol: 'UDP',
  };
  const name = 'envoy.config.core.v3.SocketAddress';
  const any = encodeAny(decoded({ '@type': `type.googleapis.com/${name}`, ...address }));
  const back = readAny(types, any.type_url, Buffer.from(any.value));
  assert.deepEqual(back.faults, []);
  assert.deepEqual(decoded(back.any), { $type: name, ...address });
});

test('a number without a name comes back as it was', () => {
  const name = 'envoy.config.endpoint.v3.LbEndpoint';
  for (const health_status of [99, -1]) {
    const any = encodeAny(decoded({ '@type': `type.googleapis.com/${name}`, health_status }));
    const back = readAny(types, any.type_url, Buffer.from(any.value));
    assert.deepEqual(back.faults, []);
    assert.deepEqual(decoded(back.any), { $type: name, health_status });
  }
});

test('an Any within another one is written with its type', () => {
  const inner = { '@type': 'type.googleapis.com/google.protobuf.BoolValue', value: true };
  const hex = bytesOf('google.protobuf.Any', { value: inner });
  assert.match(Buffer.from(hex, 'hex').toString('latin1'), /google\.protobuf\.BoolValue/);
});
