// Peers that say nothing for too long.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpBootstrap, tcpBootstrap } from './bootstrap.js';
import { runProxy } from './running-proxy.js';
import { connectClient, echoTargets, get, startOrigin, type Peer } from './sockets.js';

/** Never answers. */
async function listenOnly(peer: Peer): Promise<void> {
  await peer.takeMessage();
}

test('idle_timeout: a client that asks nothing more is let go', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const manager = {
    common_http_protocol_options: { idle_timeout: '0.2s' },
    // A connection on its way out is drained first.
    drain_timeout: '0.1s',
    delayed_close_timeout: '0.1s',
  };
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port], manager }));
  const client = await connectClient(t, proxy.port);

  client.send(get('/'));
  await client.takeMessage();
  const idleSince = Date.now();
  const { rest, how } = await client.closed();
  const idleMs = Date.now() - idleSince;

  assert.deepEqual({ rest, how }, { rest: '', how: 'end' });
  assert.ok(idleMs >= 250 && idleMs < 2000, `closed after ${idleMs} ms`);
  assert.equal(await proxy.stat('http.web.downstream_cx_idle_timeout'), 1);
});

test('idle_timeout: each request begins it anew', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const manager = { common_http_protocol_options: { idle_timeout: '0.5s' } };
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port], manager }));
  const client = await connectClient(t, proxy.port);

  for (let i = 0; i < 5; ++i) {
    client.send(get('/'));
    await client.takeMessage();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }

  assert.equal(await proxy.stat('http.web.downstream_cx_idle_timeout'), 0);
  assert.equal(await proxy.stat('http.web.downstream_rq_2xx'), 5);
});

test('idle_timeout of a cluster: an unused connection to an origin is closed', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const cluster = {
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
        '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
        common_http_protocol_options: { idle_timeout: '0.2s' },
        explicit_http_config: { http_protocol_options: {} },
      },
    },
  };
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port], cluster }));
  const client = await connectClient(t, proxy.port);

  client.send(get('/'));
  await client.takeMessage();
  await proxy.statBecomes('cluster.origin.upstream_cx_active', 0);

  assert.equal(await proxy.stat('cluster.origin.upstream_cx_idle_timeout'), 1);
  assert.equal(await proxy.stat('http.web.downstream_cx_active'), 1);
});

test('request_headers_timeout: half a head is answered with 408', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const manager = { request_headers_timeout: '0.2s' };
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port], manager }));
  const client = await connectClient(t, proxy.port);

  client.send('GET / HTTP/1.1\r\nhost: te');
  const { startLine, body } = await client.takeMessage();

  assert.equal(startLine, 'HTTP/1.1 408 Request Timeout');
  assert.equal(body, 'request header timeout');
  await client.closed();
  assert.equal(await proxy.stat('http.web.downstream_rq_header_timeout'), 1);
});

test('request_timeout: half a body is answered with 408', async (t) => {
  const origin = await startOrigin(t, listenOnly);
  const manager = { request_timeout: '0.2s' };
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port], manager }));
  const client = await connectClient(t, proxy.port);

  client.send('POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 10\r\n\r\nhalf');
  const { startLine, body } = await client.takeMessage();

  assert.equal(startLine, 'HTTP/1.1 408 Request Timeout');
  assert.equal(body, 'request timeout');
  assert.equal(await proxy.stat('http.web.downstream_rq_timeout'), 1);
});

test('stream_idle_timeout: an origin that says nothing is answered for with 504', async (t) => {
  const origin = await startOrigin(t, listenOnly);
  const manager = { stream_idle_timeout: '0.2s' };
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port], manager }));
  const client = await connectClient(t, proxy.port);

  client.send(get('/'));
  const { startLine, body } = await client.takeMessage();

  assert.equal(startLine, 'HTTP/1.1 504 Gateway Timeout');
  assert.equal(body, 'stream timeout');
  assert.equal(await proxy.stat('http.web.downstream_rq_idle_timeout'), 1);
});

test("a route's timeout: an origin that is too slow is answered for with 504", async (t) => {
  const origin = await startOrigin(t, listenOnly);
  const proxy = await runProxy(
    t,
    httpBootstrap({ origins: [origin.port], route: { timeout: '0.2s' } }),
  );
  const client = await connectClient(t, proxy.port);

  client.send(get('/'));
  const { startLine, body } = await client.takeMessage();

  assert.equal(startLine, 'HTTP/1.1 504 Gateway Timeout');
  assert.equal(body, 'upstream request timeout');
  assert.equal(await proxy.stat('cluster.origin.upstream_rq_timeout'), 1);
  await proxy.statBecomes('cluster.origin.upstream_cx_active', 0);
});

test('TCP idle_timeout: a relay on which nothing moves is closed on both sides', async (t) => {
  let onEnd = (): void => undefined;
  const ended = new Promise<void>((resolve) => (onEnd = resolve));
  const origin = await startOrigin(t, async (peer) => {
    await peer.closed();
    onEnd();
  });
  const proxy = await runProxy(
    t,
    tcpBootstrap({ origins: [origin.port], tcpProxy: { idle_timeout: '0.2s' } }),
  );
  const client = await connectClient(t, proxy.port);

  client.send('hello');
  await client.closed();
  await ended;

  assert.equal(await proxy.stat('tcp.relay.idle_timeout'), 1);
});
