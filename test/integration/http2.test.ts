// HTTP/2 with clients, as a user would have it: by prior knowledge, by ALPN, beside HTTP/1.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
  type SecureClientSessionOptions,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { toCluster, webBootstrap } from './support/bootstraps.js';
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from './support/certificates.js';
import { startProxy } from './support/start-proxy.js';
import { closing } from '../unit/support/closing.js';

const TLS_CONTEXT =
  'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** An HTTP/1 origin; its port. */
async function startOrigin(t: TestContext, handler: Handler): Promise<number> {
  const origin = createServer(handler);
  t.after(() => {
    origin.closeAllConnections();
    origin.close();
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  return (origin.address() as AddressInfo).port;
}

interface Web {
  static_resources: {
    listeners: {
      filter_chains: {
        transport_socket?: object;
        filters: { typed_config: Record<string, unknown> }[];
      }[];
    }[];
  };
}

/** The web server of one origin; `manager`: fields of its connection manager. */
function webOf(origin: number, manager: object = {}, transport_socket?: object): object {
  const web = JSON.parse(
    JSON.stringify(webBootstrap([toCluster('/', 'origin')], { origin })),
  ) as Web;
  const chain = web.static_resources.listeners[0]?.filter_chains[0];
  assert.ok(chain);
  Object.assign(chain.filters[0]?.typed_config ?? {}, manager);
  if (transport_socket) chain.transport_socket = transport_socket;
  return web;
}

function session(
  t: TestContext,
  url: string,
  options: SecureClientSessionOptions = {},
): ClientHttp2Session {
  const client = connect(url, options);
  client.on('error', () => undefined);
  t.after(() => client.destroy());
  return client;
}

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

async function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  let status = 0;
  const parts: Buffer[] = [];
  stream.on('response', (headers) => (status = headers[':status'] ?? 0));
  stream.on('data', (part: Buffer) => parts.push(part));
  await once(stream, 'end');
  return { status, body: Buffer.concat(parts) };
}

async function ask(
  client: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: Buffer,
): Promise<Answer> {
  const stream = client.request(headers, { endStream: body === undefined });
  const answer = answerOf(stream);
  if (body) stream.end(body);
  return answer;
}

const stats = async (adminUrl: string, filter: string): Promise<string> =>
  (await fetch(`${adminUrl}/stats?filter=${encodeURIComponent(filter)}`)).text();

const echo: Handler = (request, response) => {
  request.pipe(response);
};

test('a hundred streams of one connection are answered side by side, and HTTP/1 beside them', async (t) => {
  const origin = await startOrigin(t, (request, response) => response.end(request.url));
  const proxy = await startProxy(t, webOf(origin));
  const url = await proxy.listenerUrl('web');
  assert.doesNotMatch(await stats(proxy.adminUrl, '^http2'), /http2/);
  const client = session(t, url);
  const paths = Array.from({ length: 100 }, (_, index) => `/path/${index}`);
  const answers = await Promise.all(paths.map((path) => ask(client, { ':path': path })));
  assert.deepEqual(
    answers.map(({ status, body }) => `${status} ${body.toString()}`),
    paths.map((path) => `200 ${path}`),
  );
  assert.equal(await (await fetch(`${url}/one`)).text(), '/one');

  const counted = await stats(proxy.adminUrl, 'http.web.downstream_(rq|cx)_http[12]_total|^http2');
  assert.match(counted, /^http\.web\.downstream_cx_http1_total: 1$/m);
  assert.match(counted, /^http\.web\.downstream_cx_http2_total: 1$/m);
  assert.match(counted, /^http\.web\.downstream_rq_http2_total: 100$/m);
  assert.match(counted, /^http2\.streams_active: 0$/m);
});

test('bodies far larger than any window pass both ways', async (t) => {
  const origin = await startOrigin(t, echo);
  const window = { initial_stream_window_size: 65_535, initial_connection_window_size: 65_535 };
  const proxy = await startProxy(t, webOf(origin, { http2_protocol_options: window }));
  const client = session(t, await proxy.listenerUrl('web'));
  const body = Buffer.alloc(3_000_000, 'fairlead ');
  const answers = await Promise.all(
    [1, 2, 3].map(() => ask(client, { ':method': 'POST', ':path': '/' }, body)),
  );
  for (const answer of answers) {
    assert.equal(answer.status, 200);
    assert.ok(answer.body.equals(body));
  }
  assert.match(await stats(proxy.adminUrl, 'http2.pending_send_bytes'), /: 0$/m);
});

test('TLS agrees on HTTP/2 where both sides offer it, and on HTTP/1.1 with others', async (t) => {
  const origin = await startOrigin(t, (request, response) =>
    response.end(String(request.headers['x-forwarded-proto'])),
  );
  const certificate = {
    certificate_chain: { inline_string: SERVER_CERTIFICATE },
    private_key: { inline_string: SERVER_KEY },
  };
  const common_tls_context = {
    alpn_protocols: ['h2', 'http/1.1'],
    tls_certificates: [certificate],
  };
  const socket = {
    name: 'envoy.transport_sockets.tls',
    typed_config: { '@type': TLS_CONTEXT, common_tls_context },
  };
  const proxy = await startProxy(t, webOf(origin, {}, socket));
  const url = (await proxy.listenerUrl('web')).replace('http:', 'https:');
  const trust = { ca: AUTHORITY, checkServerIdentity: () => undefined };
  const client = session(t, url, trust);
  const answer = await ask(client, { ':path': '/' });
  assert.equal(client.alpnProtocol, 'h2');
  assert.deepEqual([answer.status, answer.body.toString()], [200, 'https']);
});

test('a reset of the client reaches the origin, and the other streams go on', async (t) => {
  const origins = new EventEmitter();
  const origin = await startOrigin(t, (request, response) => {
    if (request.url !== '/held') return void response.end('yes');
    origins.emit('begun');
    response.on('close', () => origins.emit('gone'));
  });
  const proxy = await startProxy(t, webOf(origin));
  const client = session(t, await proxy.listenerUrl('web'));
  const begun = once(origins, 'begun');
  const held = client.request({ ':path': '/held' });
  held.on('error', () => undefined);
  await begun;
  const gone = once(origins, 'gone');
  held.close(constants.NGHTTP2_CANCEL);
  await gone;
  assert.equal((await ask(client, { ':path': '/' })).body.toString(), 'yes');
  assert.match(await stats(proxy.adminUrl, '^http2.rx_reset'), /^http2\.rx_reset: 1$/m);
});

test('a client that opens streams only to reset them loses its connection', async (t) => {
  const origin = await startOrigin(t, () => undefined);
  const proxy = await startProxy(t, webOf(origin));
  const client = session(t, await proxy.listenerUrl('web'));
  const closed = closing(client);
  let opened = 0;
  while (!client.destroyed && opened < 2000) {
    const stream = client.request({ ':path': '/' });
    stream.on('error', () => undefined);
    stream.close(constants.NGHTTP2_CANCEL);
    if (++opened % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await closed;
  const counted = await stats(
    proxy.adminUrl,
    'http.web.downstream_rq_(too_many_premature_resets|active)|http2.streams_active',
  );
  assert.match(counted, /^http\.web\.downstream_rq_too_many_premature_resets: 1$/m);
  assert.match(counted, /^http\.web\.downstream_rq_active: 0$/m);
  assert.match(counted, /^http2\.streams_active: 0$/m);
});

test('a connection that has had its requests is told so, and ends', async (t) => {
  const origin = await startOrigin(t, (_, response) => response.end('yes'));
  const options = { common_http_protocol_options: { max_requests_per_connection: 2 } };
  const proxy = await startProxy(t, webOf(origin, { drain_timeout: '0.05s', ...options }));
  const client = session(t, await proxy.listenerUrl('web'));
  const told: number[] = [];
  client.on('goaway', (code) => told.push(code));
  const closed = closing(client);
  for (const path of ['/1', '/2']) {
    assert.equal((await ask(client, { ':path': path })).status, 200);
  }
  await closed;
  assert.deepEqual(told, [0]);
});
