// Resets pass a TCP proxy as they are, in the clear and over TLS.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { address, cluster } from './support/bootstraps.js';
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from './support/certificates.js';
import { downstream, TYPES, upstream } from './support/secure-web.js';
import { listenerPort, startProxy } from './support/start-proxy.js';

/** The sockets of a host's connections, and the port of a proxy before it. */
async function startRelay(t: TestContext, host: Server, secure: boolean): Promise<number> {
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  t.after(() => host.close());
  const { port } = host.address() as AddressInfo;
  const relay = {
    '@type': `${TYPES}.filters.network.tcp_proxy.v3.TcpProxy`,
    stat_prefix: 'relay',
    cluster: 'host',
  };
  const filters = [{ name: 'relay', typed_config: relay }];
  const proxy = await startProxy(t, {
    admin: { address: address(0) },
    static_resources: {
      clusters: [{ ...cluster('host', port), ...(secure && { transport_socket: upstream() }) }],
      listeners: [
        {
          name: 'relay',
          address: address(0),
          filter_chains: [{ filters, ...(secure && { transport_socket: downstream() }) }],
        },
      ],
    },
  });
  return listenerPort(proxy.adminUrl, 'relay');
}

/** The socket itself, and what is said on it. */
function openClient(port: number, secure: boolean): readonly [raw: Socket, client: Socket] {
  const raw = connect({ port, host: '127.0.0.1' });
  if (!secure) return [raw, raw];
  raw.on('error', () => {});
  return [raw, connectTls({ socket: raw, ca: AUTHORITY, servername: 'server.test' })];
}

async function failure(socket: Socket): Promise<string | undefined> {
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
  return error.code;
}

for (const secure of [false, true]) {
  const how = secure ? 'over TLS' : 'in the clear';
  const makeHost = (): Server =>
    secure ? createTlsServer({ cert: SERVER_CERTIFICATE, key: SERVER_KEY }) : createServer();
  const event = secure ? 'secureConnection' : 'connection';

  test(`a host's reset resets the client, ${how}`, async (t) => {
    const host = makeHost();
    const raws: Socket[] = [];
    host.on('connection', (raw: Socket) => raws.push(raw));
    host.on(event, (socket: Socket) => {
      socket.on('error', () => {});
      socket.once('data', () => raws[0]?.resetAndDestroy());
    });
    const [, client] = openClient(await startRelay(t, host, secure), secure);
    client.write('hello');
    client.resume();
    assert.equal(await failure(client), 'ECONNRESET');
  });

  test(`a client's reset resets the host, ${how}`, async (t) => {
    const host = makeHost();
    const met = once(host, event) as Promise<[Socket]>;
    const [raw, client] = openClient(await startRelay(t, host, secure), secure);
    client.on('error', () => {});
    client.write('hello');
    const [socket] = await met;
    await once(socket, 'data');
    socket.resume();
    const ended = failure(socket);
    raw.resetAndDestroy();
    assert.equal(await ended, 'ECONNRESET');
  });
}
