// What looks at a connection before its filter chain is chosen: the PROXY protocol, an HTTP inspector.
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { says, webBootstrap } from './support/bootstraps.js';
import { startProxy, type StartedProxy } from './support/start-proxy.js';

const TYPES = 'type.googleapis.com/envoy.extensions';

type Fields = Readonly<Record<string, unknown>>;

const filter = (name: string, fields: object = {}): object => {
  const message = name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return {
    name: `envoy.filters.listener.${name}`,
    typed_config: { '@type': `${TYPES}.filters.listener.${name}.v3.${message}`, ...fields },
  };
};

const proxyProtocol = (fields: object = {}): object => filter('proxy_protocol', fields);

const printing = (text: string): object => ({
  name: 'log',
  typed_config: {
    '@type': `${TYPES}.access_loggers.stream.v3.StdoutAccessLog`,
    log_format: { text_format_source: { inline_string: `${text}\n` } },
  },
});

const answering = (text: string): object => ({
  name: 'answer',
  typed_config: {
    '@type': `${TYPES}.filters.network.direct_response.v3.Config`,
    response: { inline_string: text },
  },
});

/** A web server that says who its client is, with other fields of its listener. */
function web(fields: Fields, manager: Fields = {}): object {
  const text = JSON.stringify(
    webBootstrap([
      {
        ...says('/', 'hello'),
        response_headers_to_add: [
          { header: { key: 'x-client', value: '%DOWNSTREAM_REMOTE_ADDRESS%' } },
          { header: { key: 'x-direct', value: '%DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT%' } },
          { header: { key: 'x-local', value: '%DOWNSTREAM_LOCAL_ADDRESS%' } },
          {
            header: {
              key: 'x-aws',
              value: '%FILTER_STATE(envoy.network.proxy_protocol.tlv:FIELD:aws)%',
            },
          },
        ],
      },
    ]),
  );
  const bootstrap = JSON.parse(text) as { static_resources: { listeners: Fields[] } };
  const [listener = {}] = bootstrap.static_resources.listeners;
  const merged = JSON.stringify({ ...listener, ...fields }).replace(
    '"stat_prefix":"web"',
    `"stat_prefix":"web"${Object.entries(manager)
      .map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`)
      .join('')}`,
  );
  bootstrap.static_resources.listeners = [JSON.parse(merged) as Fields];
  return bootstrap;
}

const start = (t: TestContext, bootstrap: object): Promise<StartedProxy> =>
  startProxy(t, bootstrap, '--file-flush-interval-msec', '10');

async function open(t: TestContext, proxy: StartedProxy): Promise<Socket> {
  const port = Number(/\d+$/.exec(await proxy.listenerUrl('web'))?.[0]);
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  await new Promise<void>((resolve, reject) => socket.on('connect', resolve).on('error', reject));
  return socket.setNoDelay();
}

/** All that comes until the connection ends, however it ends. */
function untilEnd(socket: Socket): Promise<string> {
  let text = '';
  return new Promise((resolve) => {
    socket.on('data', (data: Buffer) => (text += data.toString('latin1')));
    socket.on('error', () => resolve(text)).on('close', () => resolve(text));
  });
}

async function exchange(t: TestContext, proxy: StartedProxy, bytes: Buffer): Promise<string> {
  const socket = await open(t, proxy);
  socket.write(bytes);
  return untilEnd(socket);
}

const GET = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
const V1 = 'PROXY TCP4 192.0.2.1 198.51.100.2 1111 2222\r\n';

const tlv = (type: number, value: string): Buffer =>
  Buffer.concat([Buffer.of(type, value.length >> 8, value.length & 255), Buffer.from(value)]);

function v2(...tlvs: readonly Buffer[]): Buffer {
  const addresses = Buffer.from([192, 0, 2, 1, 198, 51, 100, 2, 4, 87, 8, 174]);
  const rest = Buffer.concat([addresses, ...tlvs]);
  const fixed = Buffer.from('\r\n\r\n\0\r\nQUIT\n\x21\x11\0\0', 'latin1');
  fixed.writeUInt16BE(rest.length, 14);
  return Buffer.concat([fixed, rest]);
}

const statsOf = async (proxy: StartedProxy, filter: string): Promise<string> =>
  (await fetch(`${proxy.adminUrl}/stats?usedonly&filter=${filter}`)).text();

test('requests behind a PROXY header come from its client, in headers and logs', async (t) => {
  const access_log = [printing('log %DOWNSTREAM_REMOTE_ADDRESS% %DOWNSTREAM_LOCAL_ADDRESS%')];
  const proxy = await start(
    t,
    web({ listener_filters: [proxyProtocol()] }, { use_remote_address: true, access_log }),
  );
  for (const header of [Buffer.from(V1), v2()]) {
    const answer = await exchange(t, proxy, Buffer.concat([header, Buffer.from(GET)]));
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(answer, /\r\nx-client: 192\.0\.2\.1:1111\r\n/);
    assert.match(answer, /\r\nx-direct: 127\.0\.0\.1\r\n/);
    assert.match(answer, /\r\nx-local: 198\.51\.100\.2:2222\r\n/);
  }
  await proxy.command.prints(/^(log 192\.0\.2\.1:1111 198\.51\.100\.2:2222\n){2}/m);
  assert.equal(
    await statsOf(proxy, '^proxy_proto'),
    'proxy_proto.versions.v1.found: 1\nproxy_proto.versions.v2.found: 1\n',
  );
});

test('an origin is told the client of the PROXY header in x-forwarded-for', async (t) => {
  const inner = await start(t, web({}, { access_log: [printing('xff %REQ(x-forwarded-for)%')] }));
  const port = Number(/\d+$/.exec(await inner.listenerUrl('web'))?.[0]);
  const outer = JSON.parse(
    JSON.stringify(web({ listener_filters: [proxyProtocol()] }, { use_remote_address: true })),
  ) as { static_resources: { clusters: object[] } };
  const text = JSON.stringify(outer).replace(
    /"direct_response":\{[^}]*\}\}/,
    '"route":{"cluster":"inner"}',
  );
  const bootstrap = JSON.parse(text) as typeof outer;
  const endpoint = { address: { socket_address: { address: '127.0.0.1', port_value: port } } };
  bootstrap.static_resources.clusters = [
    {
      name: 'inner',
      load_assignment: {
        cluster_name: 'inner',
        endpoints: [{ lb_endpoints: [{ endpoint }] }],
      },
    },
  ];
  const proxy = await start(t, bootstrap);
  assert.match(await exchange(t, proxy, Buffer.from(V1 + GET)), /^HTTP\/1\.1 200 OK/);
  await inner.command.prints(/^xff 192\.0\.2\.1$/m);
});

test('bytes of a PROXY header may come one by one', async (t) => {
  const proxy = await start(t, web({ listener_filters: [proxyProtocol()] }));
  const socket = await open(t, proxy);
  const answer = untilEnd(socket);
  for (const byte of Buffer.concat([v2(tlv(4, 'nop')), Buffer.from(GET)])) {
    socket.write(Buffer.of(byte));
    await new Promise(setImmediate);
  }
  assert.match(await answer, /\r\nx-client: 192\.0\.2\.1:1111\r\n/);
});

test('values of a PROXY header are in the log of the connection, and in the filter state', async (t) => {
  const rules = [{ tlv_type: 0xea, on_tlv_present: { key: 'aws' } }];
  const space = 'envoy.filters.listener.proxy_protocol';
  const access_log = [
    printing(`log %DYNAMIC_METADATA(${space})% %DYNAMIC_METADATA(${space}:aws):4%`),
  ];
  const values = Buffer.concat([v2(tlv(0xea, 'vpce-"1'), tlv(4, 'nop')), Buffer.from(GET)]);
  const proxy = await start(t, web({ listener_filters: [proxyProtocol({ rules })], access_log }));
  assert.match(await exchange(t, proxy, values), /^HTTP\/1\.1 200 OK/);
  await proxy.command.prints(/^log \{"aws":"vpce-\\"1"\} vpce$/m);

  const location = { rules, tlv_location: 'FILTER_STATE' };
  const other = await start(t, web({ listener_filters: [proxyProtocol(location)] }));
  assert.match(await exchange(t, other, values), /\r\nx-aws: vpce-"1\r\n/);
});

test('a value of a PROXY header cannot end a header line of an answer', async (t) => {
  const rules = [{ tlv_type: 0xea, on_tlv_present: { key: 'aws' } }];
  const fields = { rules, tlv_location: 'FILTER_STATE' };
  const proxy = await start(t, web({ listener_filters: [proxyProtocol(fields)] }));
  const evil = Buffer.concat([v2(tlv(0xea, 'a\r\nx-evil: 1\0')), Buffer.from(GET)]);
  assert.match(await exchange(t, proxy, evil), /\r\nx-aws: a {2}x-evil: 1 ?\r\n/);
});

test('who sends no header is closed, unless he may; either is counted', async (t) => {
  const strict = await start(t, web({ listener_filters: [proxyProtocol()] }));
  assert.equal(await exchange(t, strict, Buffer.from(GET)), '');
  assert.match(
    await statsOf(strict, 'proxy_proto'),
    /^downstream_cx_proxy_proto_error: 1\nproxy_proto\.not_found_disallowed: 1\n$/,
  );
  const fields = { allow_requests_without_proxy_protocol: true, stat_prefix: 'edge' };
  const lenient = await start(t, web({ listener_filters: [proxyProtocol(fields)] }));
  assert.match(await exchange(t, lenient, Buffer.from(GET)), /\r\nx-client: 127\.0\.0\.1:\d+\r\n/);
  assert.equal(await statsOf(lenient, 'proxy_proto'), 'proxy_proto.edge.not_found_allowed: 1\n');
  const prometheus = await (await fetch(`${lenient.adminUrl}/stats/prometheus`)).text();
  assert.match(
    prometheus,
    /^envoy_proxy_proto_found\{envoy_proxy_protocol_prefix="edge",envoy_proxy_protocol_version="2"\} 0$/m,
  );
});

test('who says nothing is closed when the time is over, and is seen until then', async (t) => {
  const access_log = [printing('log %DOWNSTREAM_REMOTE_ADDRESS% %RESPONSE_CODE_DETAILS%')];
  const proxy = await start(
    t,
    web({ listener_filters: [proxyProtocol()], listener_filters_timeout: '0.3s', access_log }),
  );
  const silent = await open(t, proxy);
  const end = untilEnd(silent);
  while (!(await statsOf(proxy, 'downstream_pre_cx_active')).includes('active: 1')) {
    await new Promise(setImmediate);
  }
  assert.equal(await end, '');
  assert.match(await statsOf(proxy, 'downstream_pre_cx'), /downstream_pre_cx_timeout: 1\n/);
  await proxy.command.prints(/^log 127\.0\.0\.1:\d+ -$/m);
});

test('an HTTP inspector lets filter chains be chosen by what a client speaks', async (t) => {
  const chain = (protocol: string): object => ({
    filter_chain_match: { application_protocols: [protocol] },
    filters: [answering(protocol)],
  });
  const proxy = await start(
    t,
    web({
      listener_filters: [filter('http_inspector')],
      filter_chains: ['http/1.0', 'http/1.1', 'h2c'].map(chain),
      default_filter_chain: { filters: [answering('other')] },
    }),
  );
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
  const said = await Promise.all(
    ['GET / HTTP/1.0\r\n', 'GET / HTTP/1.1\r\n', preface, 'hello\r\n'].map((bytes) =>
      exchange(t, proxy, Buffer.from(bytes)),
    ),
  );
  assert.deepEqual(said, ['http/1.0', 'http/1.1', 'h2c', 'other']);
  assert.equal(
    await statsOf(proxy, '^http_inspector'),
    ['http10', 'http11', 'http2', 'http_not']
      .map((name) => `http_inspector.${name}_found: 1\n`)
      .join(''),
  );
});

test('a filter that is disabled for a port leaves its connections alone', async (t) => {
  const disabled = {
    ...proxyProtocol(),
    filter_disabled: { destination_port_range: { start: 1, end: 65_536 } },
  };
  const proxy = await start(t, web({ listener_filters: [disabled] }));
  assert.match(await exchange(t, proxy, Buffer.from(GET)), /^HTTP\/1\.1 200 OK/);
});

test('a process that ends does not wait for clients that have said nothing', async (t) => {
  const proxy = await start(t, web({ listener_filters: [proxyProtocol()] }));
  const silent = await open(t, proxy);
  const end = untilEnd(silent);
  while (!(await statsOf(proxy, 'downstream_pre_cx_active')).includes('active: 1')) {
    await new Promise(setImmediate);
  }
  const { code } = await proxy.command.end();
  assert.equal(code, 0);
  assert.equal(await end, '');
});

test('connections that were meant for another address go to the listener that has it', async (t) => {
  const named = (name: string, text: string, fields: object): object => ({
    name,
    filter_chains: [{ filters: [answering(text)] }],
    ...fields,
  });
  const at = (address: string, port_value: number): object => ({
    socket_address: { address, port_value },
  });
  const bootstrap = web({
    use_original_dst: true,
    listener_filters: [proxyProtocol()],
    filter_chains: [{ filters: [answering('own')] }],
  }) as { static_resources: { listeners: object[] } };
  const unbound = { bind_to_port: false };
  bootstrap.static_resources.listeners.push(
    named('exact', 'exact', { ...unbound, address: at('198.51.100.2', 2222) }),
    named('any', 'any', { deprecated_v1: unbound, address: at('0.0.0.0', 2223) }),
  );
  const proxy = await start(t, bootstrap);
  const said = await Promise.all(
    ['198.51.100.2 1 2222', '198.51.100.9 1 2223', '198.51.100.9 1 2222'].map((target) =>
      exchange(t, proxy, Buffer.from(`PROXY TCP4 192.0.2.1 ${target}\r\n`)),
    ),
  );
  assert.deepEqual(said, ['exact', 'any', 'own']);
  const listeners = await (await fetch(`${proxy.adminUrl}/listeners`)).text();
  assert.match(listeners, /^exact::198\.51\.100\.2:2222\nany::0\.0\.0\.0:2223$/m);
  assert.match(
    await statsOf(proxy, '^listener.*downstream_cx_total'),
    /listener\.198\.51\.100\.2_2222\.downstream_cx_total: 1\n/,
  );
});

test('of new connections so many pass in a time, and the others end unread', async (t) => {
  const token_bucket = { max_tokens: 1, fill_interval: '600s' };
  const limit = {
    name: 'envoy.filters.listener.local_ratelimit',
    typed_config: {
      '@type': `${TYPES}.filters.listener.local_ratelimit.v3.LocalRateLimit`,
      stat_prefix: 'few',
      token_bucket,
    },
  };
  const proxy = await start(t, web({ listener_filters: [limit] }));
  assert.match(await exchange(t, proxy, Buffer.from(GET)), /^HTTP\/1\.1 200 OK\r\n/);
  assert.equal(await exchange(t, proxy, Buffer.from(GET)), '');
  assert.equal(
    await statsOf(proxy, '^listener_local_ratelimit'),
    'listener_local_ratelimit.few.rate_limited: 1\n',
  );
});
