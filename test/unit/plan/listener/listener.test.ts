import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpConnectionManager_Codec as Codec } from '../../../../src/plan/plan.gen.js';
import {
  any,
  compile,
  compileStatic,
  connectionManager,
  ECHO,
  issuesOf,
  listenerOf,
  ROUTER,
  socketAddress,
  TCP_PROXY,
} from '../helpers.js';

const RAW_BUFFER = 'envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer';

function listener(fields: object) {
  const compiled = compileStatic({ listeners: [listenerOf(any(ECHO), fields)] });
  return { issues: issuesOf(compiled), plan: compiled.update.listeners?.[0] };
}

test('a listener has the defaults of the real server', () => {
  const { plan, issues } = listener({});
  assert.deepEqual(issues, []);
  assert.equal(plan?.stat_name, '127.0.0.1_10000');
  assert.equal(plan?.reuse_port, true);
  assert.equal(plan?.backlog, 2_147_483_647);
  assert.equal(plan?.per_connection_buffer_limit_bytes, 1_048_576);
  assert.deepEqual(plan?.filter_chains?.[0]?.echo, {});
});

test('statistics call a listener by its address, or by its prefix', () => {
  const nameOf = (fields: object) => listener(fields).plan?.stat_name;
  assert.equal(nameOf({ address: socketAddress(80, '0:0:0:0:0:0:0:1') }), '[__1]_80');
  assert.equal(nameOf({ address: { pipe: { path: '/run/a:b.sock' } } }), '/run/a_b.sock');
  assert.equal(nameOf({ stat_prefix: 'edge' }), 'edge');
});

test('a pipe has a mode, and no second socket', () => {
  const { plan } = listener({ address: { pipe: { path: '@a', mode: 0o600 } } });
  assert.deepEqual(plan?.address, { pipe: '@a' });
  assert.equal(plan?.pipe_mode, 0o600);
  assert.equal(plan?.reuse_port, false);
});

test('an address that is missing or no address is refused', () => {
  assert.deepEqual(issuesOf(compileStatic({ listeners: [{ name: 'l' }] })), [
    "error static_resources.listeners[0]: error adding listener named 'l': address is necessary",
  ]);
  assert.match(
    listener({ address: socketAddress(1, 'nohost') }).issues.join(),
    /malformed IP address: nohost/,
  );
});

test('a listener without chains is refused; one with only a default chain is not', () => {
  assert.match(
    listener({ filter_chains: [] }).issues.join(),
    /'127\.0\.0\.1:10000': no filter chains specified/,
  );
  const fallback = { filters: [{ name: 'e', typed_config: any(ECHO) }] };
  const { plan, issues } = listener({ filter_chains: [], default_filter_chain: fallback });
  assert.deepEqual(issues, []);
  assert.equal(plan?.filter_chains?.[0]?.is_default, true);
});

test('a chain without filters is empty; raw_buffer is a transport', () => {
  const chain = { transport_socket: { name: 'raw', typed_config: any(RAW_BUFFER) } };
  const { plan, issues } = listener({ filter_chains: [chain] });
  assert.deepEqual(issues, []);
  assert.deepEqual(Object.keys(plan?.filter_chains?.[0] ?? {}), ['name', 'match']);
});

test('ranges lose the bits below their prefix, so that the same range is noticed', () => {
  const chain = (name: string, address_prefix: string) => ({
    name,
    filters: [],
    filter_chain_match: { source_prefix_ranges: [{ address_prefix, prefix_len: 9 }] },
  });
  const { plan, issues } = listener({
    filter_chains: [chain('p', '10.200.0.1'), chain('q', '10.255.0.0')],
  });
  assert.deepEqual(plan?.filter_chains?.[0]?.match?.source, [
    { ip: Uint8Array.of(10, 128, 0, 0), prefix_length: 9 },
  ]);
  assert.deepEqual(issues, [
    "error static_resources.listeners[0].filter_chains[1]: error adding listener '127.0.0.1:10000': " +
      'multiple filter chains with overlapping matching rules are defined',
  ]);
});

test('two chains without a match are the same', () => {
  const { issues } = listener({ filter_chains: [{ name: 'p' }, { name: 'q' }] });
  assert.match(issues.join(), /filter chain 'q' has the same matching rules defined as 'p'/);
});

test('chains may ask for what only listener filters can know; names are compared in lower case', () => {
  const { plan, issues } = listener({
    filter_chains: [
      { filter_chain_match: { server_names: ['A.test', '*.B.test'] } },
      { filter_chain_match: { transport_protocol: 'tls' } },
      { filter_chain_match: { application_protocols: ['h2c'] } },
    ],
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(plan?.filter_chains?.[0]?.match?.server_names, ['a.test', '*.b.test']);
  assert.equal(plan?.filter_chains?.[1]?.match?.transport_protocol, 'tls');
});

test('names that differ in case alone are the same name', () => {
  const chain = (name: string, host: string) => ({
    name,
    filter_chain_match: { server_names: [host] },
  });
  const { issues } = listener({ filter_chains: [chain('p', 'a.test'), chain('q', 'A.test')] });
  assert.match(issues.join(), /multiple filter chains with overlapping matching rules are defined/);
});

test('a name that begins with a dot is the end of names', () => {
  const chain = (name: string, host: string) => ({
    name,
    filter_chain_match: { server_names: [host] },
  });
  const { issues } = listener({ filter_chains: [chain('p', '*.a.test'), chain('q', '.a.test')] });
  assert.match(issues.join(), /multiple filter chains with overlapping matching rules are defined/);
});

test('an asterisk stands only for the beginning of a server name', () => {
  for (const name of ['a*.test', '*', '*a.test']) {
    const { issues } = listener({
      filter_chains: [{ filter_chain_match: { server_names: ['ok.test', name] } }],
    });
    assert.equal(issues.length, 1);
    assert.match(
      String(issues[0]),
      /^error static_resources\.listeners\[0\]\.filter_chains\[0\]\.filter_chain_match\.server_names\[1\]: error adding listener '[^']*': partial wildcards are not supported in "server_names"$/,
    );
  }
});

test('nothing comes after a filter that ends its chain', () => {
  const filters = [
    { name: 't', typed_config: any(TCP_PROXY, { stat_prefix: 't', cluster: 'origin' }) },
    { name: 'e', typed_config: any(ECHO) },
  ];
  const compiled = compileStatic({
    clusters: [{ name: 'origin' }],
    listeners: [{ name: 'l', address: socketAddress(1), filter_chains: [{ filters }] }],
  });
  assert.deepEqual(issuesOf(compiled), [
    'error static_resources.listeners[0].filter_chains[0].filters[0]: Error: terminal filter named t of type ' +
      'envoy.filters.network.tcp_proxy must be the last filter in a network filter chain.',
  ]);
});

test('a filter needs a type; one that is not supported is named', () => {
  const filtersOf = (filter: object) =>
    listener({ filter_chains: [{ filters: [filter] }] }).issues.join();
  assert.match(
    filtersOf({ name: 'envoy.filters.network.echo' }),
    /Didn't find a registered implementation for 'envoy\.filters\.network\.echo' with type URL: ''/,
  );
  assert.match(
    filtersOf({
      name: 'r',
      typed_config: any('envoy.extensions.filters.network.redis_proxy.v3.RedisProxy'),
    }),
    /the extension 'r' \(envoy\.extensions\.filters\.network\.redis_proxy\.v3\.RedisProxy\) is not supported yet/,
  );
});

test('an extension of another kind is told from one that is not there yet', () => {
  const { issues } = manager({ http_filters: [{ name: 'e', typed_config: any(ECHO) }, ROUTER] });
  assert.deepEqual(issues, [
    `error typed_config: Didn't find a registered implementation for 'e' with type URL: '${ECHO}'`,
  ]);
});

test('a TCP proxy to an unknown cluster only warns: the cluster may come later', () => {
  const filter = any(TCP_PROXY, { stat_prefix: 't', cluster: 'orgin' });
  const compiled = compileStatic({
    clusters: [{ name: 'origin' }],
    listeners: [listenerOf(filter)],
  });
  assert.deepEqual(issuesOf(compiled), [
    "warning typed_config.cluster: unknown cluster 'orgin': connections are closed until there is one (origin?)",
  ]);
  const tcp = compiled.update.listeners?.[0]?.filter_chains?.[0]?.tcp;
  assert.deepEqual(tcp?.clusters, [{ cluster: 'orgin', weight: 1, metadata_match: undefined }]);
  assert.equal(tcp?.idle_timeout_ms, 3_600_000);
  assert.equal(tcp?.max_connect_attempts, 1);
});

test('of two listeners of one name the first is used', () => {
  const compiled = compileStatic({
    listeners: [listenerOf(any(ECHO)), listenerOf(any(ECHO), { address: socketAddress(2) })],
  });
  assert.equal(compiled.update.listeners?.length, 1);
  assert.match(
    issuesOf(compiled).join(),
    /^warning .*listener 'main' is there twice: this one is not used$/,
  );
});

test('the second listener of a name is not even looked at, one without a name is', () => {
  const lost = any(TCP_PROXY, { stat_prefix: 'in', cluster: '' });
  const problems = (...names: string[]): string => {
    const listeners = names.map((name, index) =>
      listenerOf(index === 0 ? any(ECHO) : lost, { name, address: socketAddress(index + 1) }),
    );
    return issuesOf(compileStatic({ listeners })).join();
  };
  assert.doesNotMatch(problems('a', 'a'), /cluster/);
  assert.match(problems('a', 'b'), /cluster/);
  assert.match(problems('', ''), /cluster/);
});

test('a connection limit comes from the runtime', () => {
  const compiled = compile({
    layered_runtime: {
      layers: [
        {
          static_layer: {
            envoy: { resource_limits: { listener: { main: { connection_limit: 9 } } } },
          },
        },
      ],
    },
    static_resources: { listeners: [listenerOf(any(ECHO))] },
  });
  assert.equal(compiled.update.listeners?.[0]?.max_connections, 9);
});

function manager(fields: object) {
  const compiled = compileStatic({ listeners: [listenerOf(connectionManager({}, fields))] });
  return {
    issues: issuesOf(compiled),
    http: compiled.update.listeners?.[0]?.filter_chains?.[0]?.http,
  };
}

test('a connection manager has the defaults of the real server', () => {
  const { http, issues } = manager({});
  assert.deepEqual(issues, []);
  assert.equal(http?.server_name, 'envoy');
  assert.equal(http?.generate_request_id, true);
  assert.equal(http?.idle_timeout_ms, 3_600_000);
  assert.equal(http?.stream_idle_timeout_ms, 300_000);
  assert.equal(http?.request_timeout_ms, 0);
  assert.equal(http?.drain_timeout_ms, 5000);
  assert.equal(http?.delayed_close_timeout_ms, 1000);
  assert.equal(http?.max_request_headers_kb, 60);
  assert.equal(http?.max_headers_count, 100);
  assert.deepEqual(http?.internal_addresses, []);
  assert.equal(http?.local_cluster, 'shop');
  assert.equal(http?.local_address, '192.0.2.1');
});

test('internal addresses without ranges are private ones', () => {
  const { http, issues } = manager({ internal_address_config: { unix_sockets: true } });
  assert.deepEqual(issues, []);
  assert.equal(http?.internal_addresses?.length, 6);
  const { ip = [], prefix_length } = http?.internal_addresses?.[1] ?? {};
  assert.deepEqual([...ip, prefix_length], [172, 16, 0, 0, 12]);
});

test('the router is the last HTTP filter, on, and there', () => {
  assert.match(
    manager({ http_filters: [] }).issues.join(),
    /^warning .*no request will be answered/,
  );
  assert.match(
    manager({ http_filters: [ROUTER, ROUTER] }).issues.join(),
    /terminal filter named envoy\.filters\.http\.router of type envoy\.filters\.http\.router must be the last/,
  );
  assert.match(
    manager({ http_filters: [{ ...ROUTER, disabled: true }] }).issues.join(),
    /\(envoy\.filters\.http\.router\) in the chain cannot be disabled by default/,
  );
  assert.match(
    manager({
      http_filters: [
        { name: 'l', typed_config: any('envoy.extensions.filters.http.lua.v3.Lua') },
        ROUTER,
      ],
    }).issues.join(),
    /the extension 'l' \(envoy\.extensions\.filters\.http\.lua\.v3\.Lua\) is not supported yet/,
  );
});

test('the codec is what is asked for, with the HTTP/2 options that go with it', () => {
  const { http, issues } = manager({
    codec_type: 'HTTP2',
    http2_protocol_options: { max_concurrent_streams: 9 },
  });
  assert.deepEqual(issues, []);
  assert.equal(http?.codec, Codec.HTTP2);
  assert.equal(http.http2?.max_concurrent_streams, 9);
  assert.equal(manager({}).http?.codec, Codec.AUTO);
  assert.equal(manager({ codec_type: 'HTTP1' }).http?.codec, Codec.HTTP1);
  assert.match(
    manager({ codec_type: 'HTTP3' }).issues.join(),
    /codec_type: HTTP\/3 codec configured on non-QUIC listener/,
  );
});
