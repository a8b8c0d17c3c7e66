// Messages whose end two readers could see in two places: the proxy either passes on what is certain, or
// refuses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpBootstrap } from './bootstrap.js';
import { runProxy } from './running-proxy.js';
import { connectClient, echoTargets, get, startOrigin } from './sockets.js';

const BAD_REQUEST = 'HTTP/1.1 400 Bad Request';
const CHUNKED_POST = 'POST / HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n';

const brokenBodies: readonly { what: string; sent: string }[] = [
  { what: 'bytes between a chunk and its line end', sent: '2\r\nabc\r\n0\r\n\r\n' },
  { what: 'words behind a chunk size', sent: '2 junk\r\nab\r\n0\r\n\r\n' },
  { what: 'a control byte in a chunk extension', sent: '2;a\x01b\r\nab\r\n0\r\n\r\n' },
  { what: 'a bare LF behind a chunk size', sent: '2\nab\r\n0\r\n\r\n' },
  { what: 'a bare LF in a chunk extension', sent: '2;a\nab\r\n0\r\n\r\n' },
  { what: 'a bare LF behind a chunk', sent: '2\r\nab\n0\r\n\r\n' },
  { what: 'a bare LF behind the last chunk', sent: '0\n\n' },
  { what: 'a bare LF behind a trailer', sent: '0\r\nname: value\n\r\n' },
  { what: 'a CR in a trailer', sent: '0\r\nname: va\rlue\r\n\r\n' },
];

test('a chunked body that breaks its coding: 400, and nothing behind it is taken for a request', async (t) => {
  const origin = await startOrigin(t, async (peer) => {
    await peer.take('never');
  });
  const manager = { delayed_close_timeout: '0.05s' };
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port], manager }));

  for (const { what, sent } of brokenBodies) {
    await t.test(what, async (t) => {
      const client = await connectClient(t, proxy.port);
      client.send(CHUNKED_POST + sent + get('/smuggled'));
      assert.equal((await client.takeMessage()).startLine, BAD_REQUEST);
      assert.equal((await client.closed()).rest, '');
    });
  }
  assert.equal(await proxy.stat('http.web.downstream_rq_total'), brokenBodies.length);
});

const brokenAnswers: readonly { what: string; head: string }[] = [
  { what: 'a CR in the content-length', head: 'content-length: 1\r2' },
  { what: 'a CR behind the content-length', head: 'content-length: 2\r' },
  { what: 'a CR in the transfer coding', head: 'transfer-encoding: chu\rnked' },
  { what: 'a CR in the connection header', head: 'content-length: 2\r\nconnection: clo\rse' },
  { what: 'a transfer coding on a folded line', head: 'transfer-encoding:\r\n chunked' },
];

test('an answer whose framing has a CR in it: 502, and its connection is not used again', async (t) => {
  let broken = '';
  const origin = await startOrigin(t, async (peer) => {
    await peer.take('\r\n\r\n');
    peer.send(`HTTP/1.1 200 OK\r\n${broken}\r\n\r\nab`);
    await peer.closed();
  });
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  for (const { what, head } of brokenAnswers) {
    await t.test(what, async () => {
      broken = head;
      client.send(get('/'));
      assert.equal((await client.takeMessage()).startLine, 'HTTP/1.1 502 Bad Gateway');
    });
  }
  assert.equal(origin.connectionCount, brokenAnswers.length);
  assert.equal(await proxy.stat('cluster.origin.upstream_cx_protocol_error'), brokenAnswers.length);
});

test('a CR in any other header of an answer is a blank, as it is for its readers', async (t) => {
  const origin = await startOrigin(t, async (peer) => {
    await peer.take('\r\n\r\n');
    peer.send('HTTP/1.1 200 OK\r\nname: a\rb\r\nother: c\r\r\ncontent-length: 2\r\n\r\nok');
    await peer.closed();
  });
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  client.send(get('/'));
  const { headers, body } = await client.takeMessage();

  assert.ok(headers.includes('name: a b'), headers.join(', '));
  assert.ok(headers.includes('other: c'), headers.join(', '));
  assert.equal(body, 'ok');
});

test('trailers of a first request, which waits for its connection, reach the origin', async (t) => {
  const origin = await startOrigin(t, async (peer) => {
    const request = await peer.take('x-sum: 42\r\n\r\n');
    const body = request.slice(request.indexOf('\r\n\r\n') + 4);
    peer.send(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  });
  const manager = { http_protocol_options: { enable_trailers: true } };
  const cluster = {
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
        '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
        explicit_http_config: { http_protocol_options: { enable_trailers: true } },
      },
    },
  };
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port], manager, cluster }));
  const client = await connectClient(t, proxy.port);

  client.send(`${CHUNKED_POST}5\r\nhello\r\n0\r\nX-Sum: 42\r\n\r\n`);

  assert.equal((await client.takeMessage()).body, '5\r\nhello\r\n0\r\nx-sum: 42\r\n\r\n');
});

test('direct responses of 204 and 304 have no body, so that the next answer is where it is read', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const body = { inline_string: 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwrong' };
  const direct = (path: string, status: number): object => ({
    match: { path },
    direct_response: { status, body },
  });
  const routes = [
    direct('/204', 204),
    direct('/304', 304),
    { match: { prefix: '/' }, route: { cluster: 'origin' } },
  ];
  const manager = {
    route_config: { name: 'web', virtual_hosts: [{ name: 'all', domains: ['*'], routes }] },
  };
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port], manager }));
  const client = await connectClient(t, proxy.port);

  client.send(get('/204') + get('/304') + get('/next'));

  for (const startLine of ['HTTP/1.1 204 No Content', 'HTTP/1.1 304 Not Modified']) {
    const answer = await client.takeMessage();
    assert.equal(answer.startLine, startLine);
    assert.ok(!answer.headers.some((line) => line.startsWith('content-length')));
  }
  assert.equal((await client.takeMessage()).body, '/next');
});

test('a path goes where its dot segments lead, with parameters too', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const routes = [
    { match: { prefix: '/private' }, direct_response: { status: 403 } },
    { match: { prefix: '/' }, route: { cluster: 'origin' } },
  ];
  const manager = {
    normalize_path: true,
    route_config: { name: 'web', virtual_hosts: [{ name: 'all', domains: ['*'], routes }] },
  };
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port], manager }));
  const client = await connectClient(t, proxy.port);

  for (const path of ['/a/../private', '/a/..;/private', '/a/..;x=1/.;/private']) {
    client.send(get(path));
    assert.equal((await client.takeMessage()).startLine, 'HTTP/1.1 403 Forbidden');
  }
  client.send(get('/a;x=1/b/..;/c'));
  assert.equal((await client.takeMessage()).body, '/a;x=1/c');
});
