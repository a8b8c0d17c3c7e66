// TLS on both sides, as a user would have it: HTTPS with client certificates, resumption, hosts that
// are reached over TLS, bytes that pass through both, chains by server name.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { connect, createServer as createTlsServer, type ConnectionOptions } from 'node:tls';
import { address, cluster, says, toCluster, webBootstrap } from './support/bootstraps.js';
import {
  AUTHORITY,
  CLIENT_CERTIFICATE,
  CLIENT_KEY,
  SERVER_CERTIFICATE,
  SERVER_KEY,
} from './support/certificates.js';
import {
  downstream,
  get,
  secureWeb,
  SERVER,
  text,
  tls,
  TRUST,
  TYPES,
  upstream,
  type Bootstrap,
} from './support/secure-web.js';
import { fileSource, putResources, putText, secretResource } from './support/resources.js';
import { listenerPort, makeFolder, runCommand, startProxy } from './support/start-proxy.js';
import { stat, untilStat } from './support/stats.js';

/** An HTTPS origin that says whom it was asked for; ends with the test. */
async function startOrigin(t: TestContext): Promise<number> {
  const origin = createServer(
    {
      cert: SERVER_CERTIFICATE,
      key: SERVER_KEY,
      ca: AUTHORITY,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (req, res) => {
      const socket = req.socket as import('node:tls').TLSSocket & { servername?: string | false };
      res.setHeader('x-server-name', String(socket.servername));
      res.setHeader('x-proto', String(req.headers['x-forwarded-proto']));
      res.setHeader('x-xfcc', String(req.headers['x-forwarded-client-cert']));
      res.setHeader('x-reused', String(socket.isSessionReused()));
      res.end('from the origin');
    },
  );
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => origin.close());
  return (origin.address() as AddressInfo).port;
}

test('HTTPS in and out: the scheme, who the client is, and whom the host is asked for', async (t) => {
  const port = await startOrigin(t);
  const secure = {
    ...cluster('origin', port),
    transport_socket: upstream({ validation_context: TRUST }, { sni: 'server.test' }),
  };
  const web = webBootstrap([toCluster('/', 'origin')]) as unknown as Bootstrap;
  const bootstrap = secureWeb(
    { ...web, static_resources: { ...web.static_resources, clusters: [secure] } },
    downstream({ alpn_protocols: ['h2', 'http/1.1'], validation_context: TRUST }),
    {
      forward_client_cert_details: 'SANITIZE_SET',
      set_current_client_cert_details: { subject: true, dns: true },
    },
  );
  const proxy = await startProxy(t, bootstrap);
  const web_port = await listenerPort(proxy.adminUrl, 'web');
  const known = await get(web_port, { cert: CLIENT_CERTIFICATE, key: CLIENT_KEY });
  assert.equal(known.body, 'from the origin');
  assert.equal(known.headers['x-server-name'], 'server.test');
  assert.equal(known.headers['x-proto'], 'https');
  assert.match(
    String(known.headers['x-xfcc']),
    /^Hash=[0-9a-f]{64};Subject="CN=client";DNS=client\.test$/,
  );
  const unknown = await get(web_port, { headers: { 'x-forwarded-client-cert': 'By=me' } });
  assert.equal(unknown.headers['x-xfcc'], 'undefined');
  assert.equal(await stat(proxy, 'cluster.origin.ssl.handshake'), 1);
  assert.equal(await stat(proxy, 'http.web.downstream_cx_ssl_total'), 2);
});

test('a client without the certificate that is asked for is refused, and counted', async (t) => {
  const bootstrap = secureWeb(
    webBootstrap([says('/', 'hello')]),
    downstream(
      { validation_context: TRUST, tls_params: { tls_maximum_protocol_version: 'TLSv1_2' } },
      { require_client_certificate: true },
    ),
  );
  const proxy = await startProxy(t, bootstrap);
  const port = await listenerPort(proxy.adminUrl, 'web');
  await assert.rejects(get(port), /handshake failure|ECONNRESET|socket hang up/);
  assert.equal((await get(port, { cert: CLIENT_CERTIFICATE, key: CLIENT_KEY })).body, 'hello');
  const url = await proxy.listenerUrl('web');
  const scope = `listener.${new URL(url).host.replace(':', '_')}.ssl`;
  assert.equal(
    await stat(proxy, 'server.days_until_first_cert_expiring').then((days) => days > 1000),
    true,
  );
  const page = await (await fetch(`${proxy.adminUrl}/stats?filter=ssl`)).text();
  assert.match(page, /ssl\.fail_verify_no_cert: 1\n/, scope);
  assert.match(page, /ssl\.handshake: 1\n/);
  const certs = (await (await fetch(`${proxy.adminUrl}/certs`)).json()) as {
    readonly certificates: readonly { readonly cert_chain: readonly { readonly path: string }[] }[];
  };
  assert.equal(certs.certificates[0]?.cert_chain[0]?.path, '<inline>');
});

async function session(port: number, options: ConnectionOptions): Promise<[boolean, Buffer]> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    ca: AUTHORITY,
    servername: 'server.test',
    ...options,
  });
  const got: Promise<Buffer> = new Promise((resolve) => socket.once('session', resolve));
  await once(socket, 'secureConnect');
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await once(socket, 'data');
  const isReused = socket.isSessionReused();
  // Of TLS 1.2 no other one comes for a session that is resumed.
  const ticket = isReused ? Buffer.alloc(0) : await got;
  socket.destroy();
  return [isReused, ticket];
}

test('a client resumes its session, with whichever worker it comes to', async (t) => {
  const bootstrap = secureWeb(webBootstrap([says('/', 'hello')]), downstream());
  const proxy = await startProxy(t, bootstrap, '--concurrency', '2');
  const port = await listenerPort(proxy.adminUrl, 'web');
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const [first, ticket] = await session(port, { maxVersion });
    assert.equal(first, false);
    for (let i = 0; i < 8; i += 1) {
      const [reused] = await session(port, { maxVersion, session: ticket });
      assert.equal(reused, true, maxVersion);
    }
  }
});

test('bytes pass through TLS on both sides as they are, and so do the ends', async (t) => {
  const echo = createTlsServer(
    { cert: SERVER_CERTIFICATE, key: SERVER_KEY, allowHalfOpen: true },
    (socket) => socket.pipe(socket),
  );
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  t.after(() => echo.close());
  const { port: origin } = echo.address() as AddressInfo;
  const proxy = await startProxy(t, {
    admin: { address: address(0) },
    static_resources: {
      clusters: [{ ...cluster('echo', origin), transport_socket: upstream() }],
      listeners: [
        {
          name: 'relay',
          address: address(0),
          filter_chains: [
            {
              filters: [
                {
                  name: 'relay',
                  typed_config: {
                    '@type': `${TYPES}.filters.network.tcp_proxy.v3.TcpProxy`,
                    stat_prefix: 'relay',
                    cluster: 'echo',
                  },
                },
              ],
              transport_socket: downstream(),
            },
          ],
        },
      ],
    },
  });
  const port = await listenerPort(proxy.adminUrl, 'relay');
  const options = { port, host: '127.0.0.1', ca: AUTHORITY, servername: 'server.test' };
  const socket = connect(Object.assign(options, { allowHalfOpen: true }));
  await once(socket, 'secureConnect');
  const sent = Buffer.alloc(3_000_000, 'some bytes that repeat ');
  socket.end(sent);
  const got: Buffer[] = [];
  for await (const chunk of socket) got.push(chunk as Buffer);
  assert.ok(Buffer.concat(got).equals(sent));
});

test('what OpenSSL does not take is refused with its place', async (t) => {
  const path = join(makeFolder(t), 'boot.json');
  const wrong = { ...SERVER, private_key: text(CLIENT_KEY) };
  const bootstrap = secureWeb(
    webBootstrap([says('/', 'hello')]),
    downstream({ tls_certificates: [wrong] }),
  );
  writeFileSync(path, JSON.stringify(bootstrap, null, 1));
  const { code, stderr } = await runCommand(t, '--mode', 'validate', '-c', path);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /boot\.json:\d+:\d+: .*common_tls_context: TLS does not take this: private_key is not of the certificate/,
  );
});

test('chains are chosen by the server name that a client sends, before the handshake', async (t) => {
  const answering = (body: string): object => ({
    name: 'answer',
    typed_config: {
      '@type': `${TYPES}.filters.network.direct_response.v3.Config`,
      response: text(body),
    },
  });
  const chain = (names: readonly string[], body: string): object => ({
    filter_chain_match: { server_names: names, transport_protocol: 'tls' },
    filters: [answering(body)],
    transport_socket: downstream(),
  });
  const proxy = await startProxy(t, {
    admin: { address: address(0) },
    static_resources: {
      listeners: [
        {
          name: 'names',
          address: address(0),
          listener_filters: [
            {
              name: 'envoy.filters.listener.tls_inspector',
              typed_config: { '@type': `${TYPES}.filters.listener.tls_inspector.v3.TlsInspector` },
            },
          ],
          filter_chains: [
            chain(['server.test'], 'exact'),
            chain(['*.test'], 'wild'),
            { filters: [answering('clear')] },
          ],
        },
      ],
    },
  });
  const port = await listenerPort(proxy.adminUrl, 'names');
  const answerTo = async (servername: string): Promise<string> => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, servername });
    let body = '';
    for await (const chunk of socket) body += String(chunk);
    return body;
  };
  assert.equal(await answerTo('server.test'), 'exact');
  assert.equal(await answerTo('SERVER.test'), 'exact');
  assert.equal(await answerTo('a.b.test'), 'wild');
  assert.equal(await stat(proxy, 'tls_inspector.sni_found'), 3);
});

test('secrets from files take the place of others for new connections; wrong ones change nothing', async (t) => {
  const folder = makeFolder(t);
  const [pair, chainFile, keyFile] = ['pair', 'crt', 'key'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  // Whatever is moved into the folder of the pair's files has them read again.
  const authority = join(makeFolder(t), 'authority');
  putText(chainFile, SERVER_CERTIFICATE);
  putText(keyFile, SERVER_KEY);
  const files = { certificate_chain: { filename: chainFile }, private_key: { filename: keyFile } };
  putResources(pair, '1', [secretResource({ name: 'pair', tls_certificate: files })]);
  const trust = secretResource({ name: 'authority', validation_context: TRUST });
  putResources(authority, '1', [trust]);
  const socket = tls('Downstream', {
    require_client_certificate: true,
    common_tls_context: {
      tls_params: { tls_maximum_protocol_version: 'TLSv1_2' },
      tls_certificate_sds_secret_configs: [{ name: 'pair', sds_config: fileSource(pair) }],
      validation_context_sds_secret_config: {
        name: 'authority',
        sds_config: fileSource(authority),
      },
    },
  });
  const bootstrap = {
    ...secureWeb(webBootstrap([says('/', 'hello')]), socket),
    node: { id: 'test', cluster: 'test' },
  };
  const proxy = await startProxy(t, bootstrap);
  const port = await listenerPort(proxy.adminUrl, 'web');
  const client = { cert: CLIENT_CERTIFICATE, key: CLIENT_KEY };
  assert.equal((await get(port, client)).body, 'hello');
  // Nobody whom this one trusts has signed the client.
  putResources(authority, '2', [
    secretResource({
      name: 'authority',
      validation_context: { trusted_ca: text(SERVER_CERTIFICATE) },
    }),
  ]);
  await untilStat(proxy, 'sds.authority.update_success', 2);
  await assert.rejects(get(port, client));
  putResources(authority, '3', [
    secretResource({ name: 'authority', validation_context: { trusted_ca: text('no PEM') } }),
  ]);
  await untilStat(proxy, 'sds.authority.update_rejected', 1);
  putResources(authority, '4', [trust]);
  await untilStat(proxy, 'sds.authority.update_success', 3);
  assert.equal((await get(port, client)).body, 'hello');
  // A file that the secret names is replaced: it fails once for each that is in its folder.
  putText(chainFile, CLIENT_CERTIFICATE);
  await untilStat(proxy, 'sds.pair.key_rotation_failed', 2);
  assert.equal((await get(port, client)).body, 'hello');
  putText(keyFile, CLIENT_KEY);
  const checkServerIdentity = (): undefined => undefined;
  const end = Date.now() + 5000;
  for (let name = ''; name !== 'client';) {
    assert.ok(Date.now() < end, 'the new files are not used');
    const socket = connect({
      port,
      host: '127.0.0.1',
      ca: AUTHORITY,
      checkServerIdentity,
      ...client,
    });
    await once(socket, 'secureConnect');
    name = String(socket.getPeerCertificate().subject.CN);
    socket.destroy();
  }
  const dump = await (
    await fetch(`${proxy.adminUrl}/config_dump?resource=dynamic_active_secrets`)
  ).text();
  assert.match(dump, /"version_info": "4"/);
  assert.ok(!dump.includes(Buffer.from(CLIENT_KEY).toString('base64')), 'the key is shown');
});
