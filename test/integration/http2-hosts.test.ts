// HTTP/2 with hosts: what clients of either protocol ask for goes over few connections, whole.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import {
  connect,
  constants,
  createSecureServer,
  createServer,
  type ClientHttp2Session,
  type Http2Server,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { test, type TestContext } from 'node:test';
import { cluster, toCluster, webBootstrap } from './support/bootstraps.js';
import { SERVER_CERTIFICATE, SERVER_KEY } from './support/certificates.js';
import { startProxy } from './support/start-proxy.js';

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const TLS_CONTEXT = 'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext';
const KEYS = { cert: SERVER_CERTIFICATE, key: SERVER_KEY };
const MIB = 1024 * 1024;

type Handler = (stream: ServerHttp2Stream, headers: { ':path'?: string }) => void;

class Origin {
  readonly sessions: ServerHttp2Session[] = [];
  constructor(
    readonly server: Http2Server,
    readonly port: number,
  ) {
    server.on('session', (session) => this.sessions.push(session));
  }
}

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function startOrigin(t: TestContext, handler: Handler, isTls = false): Promise<Origin> {
  const server = isTls ? createSecureServer(KEYS) : createServer();
  server.on('stream', (stream: ServerHttp2Stream, headers: { ':path'?: string }) => {
    stream.on('error', () => undefined);
    handler(stream, headers);
  });
  const origin = new Origin(server, await listen(t, server));
  t.after(() => {
    for (const session of origin.sessions) session.destroy();
  });
  return origin;
}

const speaking = (options: object): object => ({
  typed_extension_protocol_options: {
    [HTTP_OPTIONS]: { '@type': `type.googleapis.com/${HTTP_OPTIONS}`, ...options },
  },
});
const http2 = (options: object = {}): object =>
  speaking({ explicit_http_config: { http2_protocol_options: options } });

/** The web server of one origin; `fields`: of its cluster; `route`: of the way there. */
function webOf(port: number, fields: object, route: object = {}): object {
  const way = toCluster('/', 'origin');
  const routes = [{ ...way, route: { ...(way['route'] as object), ...route } }];
  const web = webBootstrap(routes) as { static_resources: object };
  const clusters = [{ ...cluster('origin', port), ...fields }];
  return { ...web, static_resources: { ...web.static_resources, clusters } };
}

function session(t: TestContext, url: string): ClientHttp2Session {
  const client = connect(url);
  client.on('error', () => undefined);
  t.after(() => client.destroy());
  return client;
}

async function ask(client: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: Buffer) {
  const stream = client.request(headers, { endStream: body === undefined });
  const parts: Buffer[] = [];
  const answer = { status: 0, body: Buffer.alloc(0), trailers: {} as object };
  stream.on('response', (head) => (answer.status = head[':status'] ?? 0));
  stream.on('trailers', (trailers) => (answer.trailers = { ...trailers }));
  stream.on('data', (part: Buffer) => parts.push(part));
  if (body) stream.end(body);
  await once(stream, 'end');
  answer.body = Buffer.concat(parts);
  return answer;
}

const stats = async (adminUrl: string, filter: string): Promise<string> =>
  (await fetch(`${adminUrl}/stats?filter=${encodeURIComponent(filter)}`)).text();

const echo: Handler = (stream) => {
  stream.respond({ ':status': 200 }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-end': 'done' }));
  stream.pipe(stream);
};

test('bodies of 4 MiB go there and back over one connection, from clients of both protocols', async (t) => {
  const origin = await startOrigin(t, echo);
  const window = { initial_stream_window_size: 65_535, initial_connection_window_size: 65_535 };
  const proxy = await startProxy(t, webOf(origin.port, http2(window)));
  const url = await proxy.listenerUrl('web');
  const body = Buffer.alloc(4 * MIB, 'fairlead ');
  const client = session(t, url);
  const answers = await Promise.all(
    [1, 2, 3].map(() => ask(client, { ':method': 'POST', ':path': '/' }, body)),
  );
  for (const answer of answers) {
    assert.equal(answer.status, 200);
    assert.ok(answer.body.equals(body));
    assert.equal((answer.trailers as Record<string, string>)['x-end'], 'done');
  }
  const plain = await fetch(url, { method: 'POST', body });
  assert.ok(Buffer.from(await plain.arrayBuffer()).equals(body));
  assert.equal(origin.sessions.length, 1);
  const counted = await stats(proxy.adminUrl, 'cluster.origin');
  assert.match(counted, /^cluster\.origin\.upstream_cx_http2_total: 1$/m);
  assert.match(counted, /^cluster\.origin\.upstream_cx_http1_total: 0$/m);
  assert.match(counted, /^cluster\.origin\.http2\.streams_active: 0$/m);
  assert.match(counted, /^cluster\.origin\.http2\.pending_send_bytes: 0$/m);
});

test('a client that leaves ends its stream at the origin, and no other', async (t) => {
  const seen = new EventEmitter();
  const origin = await startOrigin(t, (stream, { ':path': path }) => {
    if (path !== '/held') {
      stream.respond({ ':status': 200 });
      return void stream.end('yes');
    }
    stream.on('close', () => seen.emit('gone'));
    seen.emit('begun');
  });
  const proxy = await startProxy(t, webOf(origin.port, http2()));
  const client = session(t, await proxy.listenerUrl('web'));
  const begun = once(seen, 'begun');
  const held = client.request({ ':path': '/held' });
  held.on('error', () => undefined);
  await begun;
  const gone = once(seen, 'gone');
  held.close(constants.NGHTTP2_CANCEL);
  await gone;
  assert.equal((await ask(client, { ':path': '/' })).body.toString(), 'yes');
  assert.equal(origin.sessions.length, 1);
  assert.match(
    await stats(proxy.adminUrl, 'cluster.origin.upstream_rq_tx_reset'),
    /^cluster\.origin\.upstream_rq_tx_reset: 1$/m,
  );
});

test('a host that says GOAWAY finishes what it has, and the next goes to another connection', async (t) => {
  const waiting: ServerHttp2Stream[] = [];
  const seen = new EventEmitter();
  const origin = await startOrigin(t, (stream, { ':path': path }) => {
    if (path === '/wait') {
      waiting.push(stream);
      return void seen.emit('waits');
    }
    stream.respond({ ':status': 200 });
    stream.end('new');
  });
  const proxy = await startProxy(t, webOf(origin.port, http2()));
  const client = session(t, await proxy.listenerUrl('web'));
  const waits = once(seen, 'waits');
  const first = ask(client, { ':path': '/wait' });
  await waits;
  origin.sessions[0]?.goaway();
  while (!/: 1$/m.test(await stats(proxy.adminUrl, 'origin.upstream_cx_close_notify'))) continue;
  assert.equal((await ask(client, { ':path': '/next' })).body.toString(), 'new');
  assert.equal(origin.sessions.length, 2);
  waiting[0]?.respond({ ':status': 200 });
  waiting[0]?.end('old');
  assert.equal((await first).body.toString(), 'old');
});

test('what a host refuses is tried again, where the route says so', async (t) => {
  let refusals = 0;
  const origin = await startOrigin(t, (stream) => {
    if (refusals++ < 2) return void stream.close(constants.NGHTTP2_REFUSED_STREAM);
    stream.respond({ ':status': 200 });
    stream.end('at last');
  });
  const retry_policy = { retry_on: 'refused-stream', num_retries: 3 };
  const proxy = await startProxy(t, webOf(origin.port, http2(), { retry_policy }));
  const answer = await fetch(await proxy.listenerUrl('web'));
  assert.deepEqual([answer.status, await answer.text()], [200, 'at last']);
  assert.equal(origin.sessions.length, 1);
});

test('ALPN decides what is spoken, and clients where the cluster leaves it to them', async (t) => {
  const says: Handler = (stream) => {
    stream.respond({ ':status': 200 });
    stream.end('two');
  };
  const two = await startOrigin(t, says, true);
  const either = await startOrigin(t, says);
  const one = createTlsServer({ ...KEYS, ALPNProtocols: ['http/1.1'] }, (_, response) =>
    response.end('one'),
  );
  t.after(() => one.closeAllConnections());
  const onePort = await listen(t, one);
  const transport_socket = {
    name: 'envoy.transport_sockets.tls',
    typed_config: { '@type': `type.googleapis.com/${TLS_CONTEXT}` },
  };
  const auto = { ...speaking({ auto_config: {} }), transport_socket };
  const clusters = [
    { ...cluster('two', two.port), ...auto },
    { ...cluster('one', onePort), ...auto },
    { ...cluster('client', either.port), ...speaking({ use_downstream_protocol_config: {} }) },
  ];
  const web = webBootstrap(['two', 'one', 'client'].map((name) => toCluster(`/${name}`, name)));
  const proxy = await startProxy(t, {
    ...web,
    static_resources: { ...(web['static_resources'] as object), clusters },
  });
  const url = await proxy.listenerUrl('web');
  assert.equal(await (await fetch(`${url}/two`)).text(), 'two');
  const paths = ['/one', '/one', '/one'];
  const texts = await Promise.all(paths.map(async (path) => (await fetch(url + path)).text()));
  assert.deepEqual(texts, ['one', 'one', 'one']);
  assert.equal((await ask(session(t, url), { ':path': '/client' })).body.toString(), 'two');
  const counted = await stats(proxy.adminUrl, 'cluster.*upstream_cx_http[12]_total');
  assert.match(counted, /^cluster\.two\.upstream_cx_http2_total: 1$/m);
  assert.match(counted, /^cluster\.one\.upstream_cx_http2_total: 0$/m);
  assert.match(counted, /^cluster\.client\.upstream_cx_http2_total: 1$/m);
});

test('requests wait for one connection, not for one each, and no host gets more than it wants', async (t) => {
  const origin = await startOrigin(t, (stream) => {
    stream.respond({ ':status': 200 });
    stream.end('yes');
  });
  const limit = { max_concurrent_streams: 4 };
  const proxy = await startProxy(t, webOf(origin.port, http2(limit)));
  const client = session(t, await proxy.listenerUrl('web'));
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => ask(client, { ':path': '/' })),
  );
  assert.ok(answers.every(({ body }) => body.toString() === 'yes'));
  assert.ok(origin.sessions.length <= 10);
  const counted = await stats(proxy.adminUrl, 'cluster.origin.upstream_rq_');
  assert.match(counted, /^cluster\.origin\.upstream_rq_active: 0$/m);
  assert.match(counted, /^cluster\.origin\.upstream_rq_total: 40$/m);
});
