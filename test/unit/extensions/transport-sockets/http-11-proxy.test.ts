import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compile, issuesOf } from '../../plan/helpers.js';

const SOCKETS = 'envoy.extensions.transport_sockets';
const RAW = {
  name: 'envoy.transport_sockets.raw_buffer',
  typed_config: any(`${SOCKETS}.raw_buffer.v3.RawBuffer`),
};
const http11Proxy = (fields: object) => ({
  name: 'envoy.transport_sockets.http_11_proxy',
  typed_config: any(`${SOCKETS}.http_11_proxy.v3.Http11ProxyUpstreamTransport`, fields),
});
const at = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });
const PROXY = 'envoy.http11_proxy_transport_socket.proxy_address';
const naming = (type: string, fields: object) => ({
  typed_filter_metadata: { [PROXY]: any(type, fields) },
});
const namingProxy = (port: number) => naming('envoy.config.core.v3.Address', at(port));

function compileCluster(socket: object, endpoints: object[] = []) {
  const transport_socket = http11Proxy(socket);
  const load_assignment = { cluster_name: 'a', endpoints };
  const compiled = compile({
    static_resources: { clusters: [{ name: 'a', transport_socket, load_assignment }] },
  });
  return { issues: issuesOf(compiled), update: compiled.update };
}

test('a host goes by the proxy that it names, else by that of its locality', () => {
  const endpoints = [
    {
      metadata: namingProxy(2),
      lb_endpoints: [
        { endpoint: { address: at(10) }, metadata: namingProxy(1) },
        { endpoint: { address: at(11) } },
      ],
    },
    { lb_endpoints: [{ endpoint: { address: at(12) } }] },
  ];
  const { issues, update } = compileCluster(
    { transport_socket: RAW, default_proxy_address: at(3) },
    endpoints,
  );
  assert.deepEqual(issues, []);
  assert.equal(update.clusters?.[0]?.http11_proxy?.address?.port, 3);
  const hosts = update.assignments?.[0]?.hosts ?? [];
  assert.deepEqual(
    hosts.map((host) => host.proxy_address?.port),
    [1, 2, undefined],
  );
});

test('a proxy that is no address, and one proxy behind another, are refused', () => {
  const lb = {
    endpoint: { address: at(10) },
    metadata: naming('envoy.config.core.v3.SocketAddress', {
      address: '127.0.0.1',
      port_value: 1,
    }),
  };
  assert.match(
    compileCluster({ transport_socket: RAW }, [{ lb_endpoints: [lb] }]).issues.join(),
    /proxy_address.*: envoy\.config\.core\.v3\.SocketAddress is no address/,
  );
  assert.match(
    compileCluster({ transport_socket: http11Proxy({ transport_socket: RAW }) }).issues.join(),
    /transport_socket: only what is spoken with the host itself goes through a proxy/,
  );
});
