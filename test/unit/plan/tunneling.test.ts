import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compile, issuesOf } from './helpers.js';

function compileTunneling(tunneling_config: object) {
  const typed_config = any('envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy', {
    stat_prefix: 't',
    cluster: 'a',
    tunneling_config: { hostname: 'host:1', ...tunneling_config },
  });
  const address = { socket_address: { address: '127.0.0.1', port_value: 0 } };
  const filters = [{ name: 'envoy.filters.network.tcp_proxy', typed_config }];
  const listeners = [{ name: 'l', address, filter_chains: [{ filters }] }];
  const compiled = compile({ static_resources: { listeners, clusters: [{ name: 'a' }] } });
  const chain = compiled.update.listeners?.[0]?.filter_chains?.[0];
  return { issues: issuesOf(compiled).join('\n'), plan: chain?.tcp?.tunneling };
}

const UUID = any('envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig');

test('a path is of a POST, and a path', () => {
  assert.match(
    compileTunneling({ post_path: '/a' }).issues,
    /post_path: Can't set a post path when POST method isn't used/,
  );
  assert.match(
    compileTunneling({ use_post: true, post_path: 'a' }).issues,
    /post_path: "a" is no path: it must begin with "\/"/,
  );
  assert.equal(compileTunneling({ use_post: true }).plan?.post_path, '/');
});

test('a header that may not be set is told of with its place', () => {
  assert.match(
    compileTunneling({
      headers_to_add: [{ header: { key: 'x-a', value: 'b' } }, { header: { key: 'host' } }],
    }).issues,
    /tunneling_config\.headers_to_add\[1\]\.header\.key: :-prefixed or host headers may not be modified/,
  );
});

test('ids are made where an extension is named, under names of their own or the usual ones', () => {
  assert.equal(compileTunneling({ request_id_header: 'x-a' }).plan?.request_id_header, undefined);
  const usual = compileTunneling({ request_id_extension: { typed_config: UUID } }).plan;
  assert.equal(usual?.request_id_header, 'x-request-id');
  assert.equal(usual.request_id_metadata_key, 'tunnel_request_id');
  const own = compileTunneling({
    request_id_extension: { typed_config: UUID },
    request_id_header: 'x-a',
    request_id_metadata_key: 'key',
  }).plan;
  assert.equal(own?.request_id_header, 'x-a');
  assert.equal(own.request_id_metadata_key, 'key');
});

test('who else would make ids is refused', () => {
  const typed_config = any('google.protobuf.Struct');
  assert.match(
    compileTunneling({ request_id_extension: { typed_config } }).issues,
    /typed_config: is not supported: ids are made by .*UuidRequestIdConfig/,
  );
});
