import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cluster } from '../../../../src/plan/plan.gen.js';
import { any, compile, issuesOf } from '../../plan/helpers.js';

const SOCKETS = 'envoy.extensions.transport_sockets';
const RAW = {
  name: 'envoy.transport_sockets.raw_buffer',
  typed_config: any(`${SOCKETS}.raw_buffer.v3.RawBuffer`),
};
const proxyProtocol = (fields: object) => ({
  name: 'envoy.transport_sockets.upstream_proxy_protocol',
  typed_config: any(`${SOCKETS}.proxy_protocol.v3.ProxyProtocolUpstreamTransport`, fields),
});

function compileCluster(fields: object): { issues: string[]; cluster: Cluster | undefined } {
  const transport_socket = proxyProtocol(fields);
  const compiled = compile({ static_resources: { clusters: [{ name: 'a', transport_socket }] } });
  return { issues: issuesOf(compiled), cluster: compiled.update.clusters?.[0] };
}

test('version 2 with values of its own, and those of the client that are named', () => {
  const { issues, cluster } = compileCluster({
    config: {
      version: 'V2',
      pass_through_tlvs: { match_type: 'INCLUDE', tlv_type: [4, 225] },
      added_tlvs: [{ type: 224, value: Buffer.from('added') }],
    },
    transport_socket: RAW,
  });
  assert.deepEqual(issues, []);
  const plan = cluster?.proxy_protocol;
  assert.equal(plan?.is_version_2, true);
  assert.deepEqual([...(plan.passed_tlv_types ?? [])], [4, 225]);
  assert.equal(plan.added_tlvs?.[0]?.type, 224);
  assert.equal(cluster?.tls, undefined);
});

test('a value may be a format, which is compiled', () => {
  const format = (text_format: string) => ({
    config: { added_tlvs: [{ type: 1, format_string: { text_format } }] },
    transport_socket: RAW,
  });
  const { issues, cluster } = compileCluster(format('to %UPSTREAM_HOST%'));
  assert.deepEqual(issues, []);
  assert.equal(cluster?.proxy_protocol?.added_tlvs?.[0]?.format?.pieces?.length, 2);
  assert.match(
    compileCluster(format('%NOPE%')).issues.join(),
    /Failed to parse TLV format string: INVALID_ARGUMENT: Not supported field in StreamInfo: NOPE/,
  );
});

test('a value and a format for it, an empty one, and one header within another are refused', () => {
  const issues = (config: object, transport_socket: object = RAW) =>
    compileCluster({ config, transport_socket }).issues.join();
  const format_string = { text_format_source: { inline_string: '%PROTOCOL%' } };
  const value = Buffer.from('a');
  assert.match(
    issues({ added_tlvs: [{ type: 1, value, format_string }] }),
    /Invalid TLV configuration: only one of 'value' or 'format_string' may be set\.$/,
  );
  assert.match(
    issues({ added_tlvs: [{ type: 1 }] }),
    /added_tlvs\[0\]: Invalid TLV configuration: one of 'value' or 'format_string' must be set\.$/,
  );
  assert.match(
    issues({}, proxyProtocol({ transport_socket: RAW })),
    /transport_socket: the PROXY protocol within the PROXY protocol is not supported/,
  );
});
