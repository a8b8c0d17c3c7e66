// WebSockets of the ws package between HTTP/1 and HTTP/2 on either side (RFC 6455, RFC 8441): its
// client or one of node:http2, its server on a port of HTTP/1 or on streams of HTTP/2.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import {
  connect,
  createServer as createHttp2Server,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { test, type TestContext } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { cluster, toCluster, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const MIB = 1024 * 1024;

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

type OnClosed = (code: number) => void;

/** Says back what it is told; `onClosed` hears why its client has ended. */
function echo(socket: WebSocket, onClosed: OnClosed): void {
  socket.on('error', () => undefined);
  socket.on('close', onClosed);
  socket.on('message', (message, isBinary) => socket.send(message, { binary: isBinary }));
}

/** What RFC 8441 has no use for, and a client of HTTP/1 asks for: proxies pass both on. */
function accepted(key: string | string[] | undefined): object {
  if (typeof key !== 'string') return {};
  const proof = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
  return { 'sec-websocket-accept': proof.digest('base64') };
}

async function startHttp1Origin(t: TestContext, onClosed: OnClosed): Promise<number> {
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on('connection', (socket) => {
    echo(socket, onClosed);
  });
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate();
  });
  return listen(t, server);
}

/** The same, and a protocol that says all of it once its client has ended. */
async function startHttp2Origin(t: TestContext, onClosed: OnClosed): Promise<number> {
  const server = createHttp2Server({ settings: { enableConnectProtocol: true } });
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => sessions.add(session));
  t.after(() => {
    for (const session of sessions) session.destroy();
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => undefined);
    stream.respond({ ':status': 200, ...accepted(headers['sec-websocket-key']) });
    if (headers[':protocol'] === 'websocket') {
      const socket = new WebSocket(null, undefined, {});
      echo(socket, onClosed);
      socket.setSocket(stream, Buffer.alloc(0), { maxPayload: 2 * MIB });
      return;
    }
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('end', () => stream.end(Buffer.concat(parts)));
  });
  return listen(t, server);
}

/** One proxy for all: its client's protocol is found by what comes. */
async function startMatrix(t: TestContext, onClosed: OnClosed): Promise<string> {
  const http1 = await startHttp1Origin(t, onClosed);
  const http2 = await startHttp2Origin(t, onClosed);
  const web = structuredClone(webBootstrap([toCluster('/h1', 'h1'), toCluster('/h2', 'h2')])) as {
    static_resources: {
      listeners: { filter_chains: { filters: { typed_config: object }[] }[] }[];
      clusters: object[];
    };
  };
  const options = {
    '@type': `type.googleapis.com/${HTTP_OPTIONS}`,
    explicit_http_config: { http2_protocol_options: { allow_connect: true } },
  };
  web.static_resources.clusters = [
    cluster('h1', http1),
    { ...cluster('h2', http2), typed_extension_protocol_options: { [HTTP_OPTIONS]: options } },
  ];
  const manager = web.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config;
  assert.ok(manager);
  Object.assign(manager, {
    upgrade_configs: [{ upgrade_type: 'websocket' }, { upgrade_type: 'whole' }],
    http2_protocol_options: { allow_connect: true },
  });
  return (await startProxy(t, web)).listenerUrl('web');
}

async function startSession(t: TestContext, url: string): Promise<ClientHttp2Session> {
  const client = connect(url);
  client.on('error', () => undefined);
  t.after(() => client.destroy());
  await once(client, 'remoteSettings');
  assert.equal(client.remoteSettings.enableConnectProtocol, true);
  return client;
}

async function tunnel(
  client: ClientHttp2Session,
  protocol: string,
  path: string,
): Promise<ClientHttp2Stream> {
  const stream = client.request(
    {
      ':method': 'CONNECT',
      ':protocol': protocol,
      ':path': path,
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
    { endStream: false },
  );
  const [head] = (await once(stream, 'response')) as [{ readonly ':status'?: number }];
  assert.equal(head[':status'], 200);
  return stream;
}

async function openByHttp1(url: string, path: string): Promise<WebSocket> {
  const socket = new WebSocket(url.replace('http:', 'ws:') + path, [], {
    perMessageDeflate: false,
  });
  await once(socket, 'open');
  return socket;
}

async function openByHttp2(t: TestContext, url: string, path: string): Promise<WebSocket> {
  const stream = await tunnel(await startSession(t, url), 'websocket', path);
  const socket = new WebSocket(null, undefined, {});
  // Made as a server's end would be: this one masks, and takes what is not masked.
  Object.assign(socket, { _isServer: false });
  socket.setSocket(stream, Buffer.alloc(0), { maxPayload: 2 * MIB });
  return socket;
}

for (const [from, path] of [
  ['HTTP/1', '/h1'],
  ['HTTP/1', '/h2'],
  ['HTTP/2', '/h1'],
  ['HTTP/2', '/h2'],
] as const) {
  test(`messages of up to 1 MiB go both ways from ${from} to ${path}, and both hear its end`, async (t) => {
    const codes = new EventEmitter();
    const url = await startMatrix(t, (code) => codes.emit('code', code));
    const socket = await (from === 'HTTP/1' ? openByHttp1(url, path) : openByHttp2(t, url, path));
    const messages = [0, 1, 126, 65_536, MIB, 3, MIB].map((size) => Buffer.alloc(size, `${size};`));
    const heard: Buffer[] = [];
    const all = new Promise<void>((resolve) => {
      socket.on('message', (message: Buffer) => {
        if (heard.push(message) === messages.length) resolve();
      });
    });
    for (const message of messages) socket.send(message);
    await all;
    for (const [index, message] of messages.entries()) {
      assert.ok(heard[index]?.equals(message), `message ${index}`);
    }
    // Streams of Node's HTTP/2 forget what their client has not read when the server ends: the
    // host's end is the one that can tell.
    const ends = Promise.all([once(codes, 'code'), once(socket, 'close')]);
    socket.close(4000, 'done');
    assert.deepEqual((await ends)[0], [4000]);
  });
}

test('who has ended its half of a tunnel still hears what the host says to all of it', async (t) => {
  const client = await startSession(t, await startMatrix(t, () => undefined));
  const stream = await tunnel(client, 'whole', '/h2');
  const sent = Buffer.alloc(MIB, 'half;');
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part));
  stream.end(sent);
  await once(stream, 'end');
  assert.ok(Buffer.concat(parts).equals(sent));
});
