import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeMessage } from '../../../src/config/decode.js';
import { printAny, printMessage } from '../../../src/config/print.js';
import { schema } from '../../../src/config/schema/schema.js';
import { parseDuration, printDuration } from '../../../src/config/values/times.js';

function printed(name: string, value: unknown, defaults: 'omitted' | 'unset' = 'omitted'): string {
  const type = schema().getMessage(name);
  const { message, issues } = decodeMessage(schema(), type, value);
  assert.deepEqual(
    issues.filter(({ severity }) => severity === 'error'),
    [],
  );
  return JSON.stringify(printMessage(schema(), type, message, { defaults }));
}

const CLUSTER = 'envoy.config.cluster.v3.Cluster';

describe('messages print as the admin pages show them', () => {
  test('fields stand in the order of their numbers, under the names of their .proto files', () => {
    const value = { respectDnsTtl: true, connectTimeout: '0.25s', name: 'c' };
    assert.equal(
      printed(CLUSTER, value),
      '{"name":"c","connect_timeout":"0.250s","respect_dns_ttl":true}',
    );
  });

  test('defaults of fields without presence are left out, those with presence stay', () => {
    const value = {
      name: 'c',
      respect_dns_ttl: false,
      lb_policy: 'ROUND_ROBIN',
      per_connection_buffer_limit_bytes: 0,
      type: 'STATIC',
    };
    assert.equal(
      printed(CLUSTER, value),
      '{"name":"c","type":"STATIC","per_connection_buffer_limit_bytes":0}',
    );
  });

  test('all fields without presence may be asked for', () => {
    assert.equal(
      printed('envoy.config.core.v3.Locality', { zone: 'z' }, 'unset'),
      '{"region":"","zone":"z","sub_zone":""}',
    );
    assert.equal(
      printed('envoy.config.core.v3.Metadata', {}, 'unset'),
      '{"filter_metadata":{},"typed_filter_metadata":{}}',
    );
  });

  test('64-bit integers are strings, bytes base64, numbers that are none words', () => {
    assert.equal(printed('google.rpc.Status', { code: 5 }), '{"code":5}');
    assert.equal(
      printed('envoy.type.v3.Int64Range', { start: -5, end: '9223372036854775807' }),
      '{"start":"-5","end":"9223372036854775807"}',
    );
    assert.equal(
      printed('envoy.config.core.v3.DataSource', { inlineBytes: 'AQI' }),
      '{"inline_bytes":"AQI="}',
    );
    assert.equal(printed('envoy.type.v3.Percent', { value: 'NaN' }), '{"value":"NaN"}');
  });

  test('an extension prints its type first', () => {
    const any = {
      '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
      suppress_envoy_headers: true,
    };
    const value = { name: 'x', typed_config: any };
    assert.equal(
      printed('envoy.config.core.v3.TypedExtensionConfig', value),
      JSON.stringify(value),
    );
  });

  test('a TypedStruct prints as it came', () => {
    const struct = {
      '@type': 'type.googleapis.com/xds.type.v3.TypedStruct',
      type_url: 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
      value: { suppressEnvoyHeaders: true },
    };
    const value = { name: 'x', typed_config: struct };
    assert.equal(
      printed('envoy.config.core.v3.TypedExtensionConfig', value),
      JSON.stringify(value),
    );
  });

  test('an Empty in an Any has nothing but its type', () => {
    assert.deepEqual(printAny(schema(), { $type: 'google.protobuf.Empty', value: {} }), {
      '@type': 'type.googleapis.com/google.protobuf.Empty',
    });
  });

  test('a well-known type in an Any stands under value', () => {
    assert.deepEqual(printAny(schema(), { $type: 'google.protobuf.Duration', value: 1500 }), {
      '@type': 'type.googleapis.com/google.protobuf.Duration',
      value: '1.500s',
    });
  });

  test('durations have 0, 3, 6 or 9 digits after the point', () => {
    const durations = [
      '0s',
      '1s',
      '0.250s',
      '1.000001s',
      '1.000000001s',
      '-0.500s',
      '315576000000s',
    ];
    for (const text of durations) assert.equal(printDuration(parseDuration(text) ?? NaN), text);
  });
});
