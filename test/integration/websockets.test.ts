// WebSockets through the proxy: undici's client, uWebSockets.js's server.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { createServer } from 'node:http';
import { test, type TestContext } from 'node:test';
import { WebSocket, type MessageEvent } from 'undici';
import { toCluster, webBootstrap } from './support/bootstraps.js';
import { startProxy, type StartedProxy } from './support/start-proxy.js';
import { startEchoServer } from './support/websocket-echo.js';
import { stat } from './support/stats.js';

const BUFFER = {
  name: 'envoy.filters.http.buffer',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer',
    max_request_bytes: 1,
  },
};
const ROUTER = {
  name: 'envoy.filters.http.router',
  typed_config: { '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router' },
};

interface Manager {
  upgrade_configs?: object[];
  http_filters: object[];
}

async function startUpgrading(
  t: TestContext,
  origin: number,
  change: (manager: Manager) => void,
): Promise<StartedProxy> {
  const bootstrap = structuredClone(
    webBootstrap([toCluster('/', 'origin')], { origin }),
  ) as unknown as {
    static_resources: {
      listeners: { filter_chains: { filters: { typed_config: Manager }[] }[] }[];
    };
  };
  const manager =
    bootstrap.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config;
  assert.ok(manager);
  change(manager);
  return startProxy(t, bootstrap);
}

async function nextMessage(socket: WebSocket): Promise<Buffer> {
  const [{ data }] = (await once(socket, 'message')) as [MessageEvent<ArrayBuffer>];
  return Buffer.from(data);
}

test('messages of up to 1 MiB go both ways, and the closing handshake ends it cleanly', async (t) => {
  const origin = await startEchoServer(t);
  if (origin === undefined) {
    t.skip('uWebSockets.js has no binary for this place');
    return;
  }
  const proxy = await startUpgrading(t, origin, (manager) => {
    manager.upgrade_configs = [{ upgrade_type: 'websocket' }];
  });
  const url = (await proxy.listenerUrl('web')).replace('http:', 'ws:');
  const socket = new WebSocket(`${url}/chat`);
  socket.binaryType = 'arraybuffer';
  await once(socket, 'open');
  assert.equal(await stat(proxy, 'http.web.downstream_cx_upgrades_active'), 1);
  for (const size of [0, 1, 125, 126, 65_535, 65_536, 1 << 20]) {
    const message = Buffer.alloc(size, `${size};`);
    socket.send(message);
    assert.ok(message.equals(await nextMessage(socket)), `a message of ${size} bytes`);
  }
  // Many at once: each in its turn.
  for (let i = 0; i < 50; i += 1) socket.send(Buffer.alloc(100_000, i));
  for (let i = 0; i < 50; i += 1) {
    assert.ok(Buffer.alloc(100_000, i).equals(await nextMessage(socket)), `message ${i}`);
  }
  socket.close(1000, 'done');
  const [{ code }] = (await once(socket, 'close')) as [{ readonly code: number }];
  assert.equal(code, 1000);
  while ((await stat(proxy, 'http.web.downstream_cx_upgrades_active')) > 0);
  assert.equal(await stat(proxy, 'http.web.downstream_cx_upgrades_total'), 1);
  assert.equal(await stat(proxy, 'cluster.origin.upstream_rq_101'), 1);
});

test('an upgrade that nobody allowed is refused, and its host hears nothing of it', async (t) => {
  let asked = 0;
  const server = createServer().on('upgrade', () => (asked += 1));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const proxy = await startUpgrading(t, port, (manager) => {
    manager.upgrade_configs = [{ upgrade_type: 'websocket', enabled: false }];
  });
  const socket = new WebSocket((await proxy.listenerUrl('web')).replace('http:', 'ws:'));
  await once(socket, 'error');
  assert.equal(asked, 0);
  assert.equal(await stat(proxy, 'http.web.downstream_rq_ws_on_non_ws_route'), 1);
});

test('upgrades with filters of their own do not pass those of other requests', async (t) => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('ok'));
  });
  server.on('upgrade', (_request, socket: Socket, head: Buffer) => {
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n',
    );
    socket.write(head);
    socket.pipe(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const proxy = await startUpgrading(t, port, (manager) => {
    manager.http_filters = [BUFFER, ROUTER];
    manager.upgrade_configs = [
      { upgrade_type: 'echo', filters: [ROUTER] },
      { upgrade_type: 'whole', filters: [BUFFER, ROUTER] },
    ];
  });
  const url = new URL(await proxy.listenerUrl('web'));
  const ask = async (upgrade: string): Promise<string> => {
    const client = connect(Number(url.port), url.hostname).setEncoding('utf8');
    client.write(`GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: ${upgrade}\r\n\r\n`);
    client.write('hello');
    let text = '';
    for await (const part of client) {
      text += part as string;
      if (text.includes('\r\n\r\n') && !text.endsWith('\r\n\r\n')) break;
    }
    client.destroy();
    return text;
  };
  assert.match(await ask('echo'), /^HTTP\/1\.1 101 [^]*\r\n\r\nhello$/);
  // Held by the buffer that comes before the router, until it is too much.
  assert.match(await ask('whole'), /^HTTP\/1\.1 413 /);
  const long = await fetch(url, { method: 'POST', body: 'long' });
  assert.equal(long.status, 413);
});
