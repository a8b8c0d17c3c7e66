// Clients that leave: with a RST amid a request, amid an answer, or by closing one half.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpBootstrap, tcpBootstrap } from './bootstrap.js';
import { runProxy } from './running-proxy.js';
import { connectClient, echoTargets, get, startOrigin, type Peer } from './sockets.js';

/** An origin's script that hands its peer to the story. */
function handOver(): { script: (peer: Peer) => void; peer: Promise<Peer> } {
  let script: (peer: Peer) => void = () => undefined;
  const peer = new Promise<Peer>((resolve) => (script = resolve));
  return { script: (arrived) => script(arrived), peer };
}

test('a client reset amid its body: the origin loses its connection, too', async (t) => {
  const { script, peer } = handOver();
  const origin = await startOrigin(t, script);
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  client.send('POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 1000\r\n\r\npart');
  const upstream = await peer;
  await upstream.take('part');
  client.reset();
  await upstream.closed();

  await proxy.statBecomes('http.web.downstream_cx_active', 0);
  assert.equal(await proxy.stat('http.web.downstream_cx_destroy_remote_active_rq'), 1);
  assert.equal(await proxy.stat('http.web.downstream_rq_active'), 0);
  assert.equal(await proxy.stat('cluster.origin.upstream_rq_active'), 0);
});

test('a client reset amid an answer: the origin is not asked to finish it', async (t) => {
  const { script, peer } = handOver();
  const origin = await startOrigin(t, script);
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  client.send(get('/'));
  const upstream = await peer;
  await upstream.takeMessage();
  upstream.send('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\npart');
  await client.take('part');
  client.reset();
  await upstream.closed();

  await proxy.statBecomes('cluster.origin.upstream_cx_active', 0);
  assert.equal(await proxy.stat('cluster.origin.upstream_cx_destroy_local_with_active_rq'), 1);
});

test('a hundred clients reset at once leave nothing behind', async (t) => {
  const origin = await startOrigin(t, async (peer) => {
    await peer.takeMessage();
  });
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const clients = await Promise.all(
    Array.from({ length: 100 }, () => connectClient(t, proxy.port)),
  );

  for (const client of clients) client.send(get('/'));
  await proxy.statBecomes('cluster.origin.upstream_rq_active', 100);
  for (const client of clients) client.reset();

  await proxy.statBecomes('http.web.downstream_cx_active', 0);
  await proxy.statBecomes('cluster.origin.upstream_cx_active', 0);
  assert.equal(await proxy.stat('http.web.downstream_rq_active'), 0);
  assert.equal(await proxy.stat('cluster.origin.upstream_rq_active'), 0);
});

test('an idle client that closes is simply gone, and its origin connection serves the next one', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const first = await connectClient(t, proxy.port);

  first.send(get('/first'));
  await first.takeMessage();
  first.end();
  await first.closed();
  const second = await connectClient(t, proxy.port);
  second.send(get('/second'));

  assert.equal((await second.takeMessage()).body, '/second');
  assert.equal(origin.connectionCount, 1);
  assert.equal(await proxy.stat('http.web.downstream_cx_destroy_remote'), 1);
});

test('TCP: a client that ended its half still gets the answer', async (t) => {
  const origin = await startOrigin(t, async (peer) => {
    const { rest } = await peer.closed();
    peer.send(`you said ${rest}`);
    peer.end();
  });
  const proxy = await runProxy(t, tcpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  client.send('hello');
  client.end();
  const { rest, how } = await client.closed();

  assert.deepEqual({ rest, how }, { rest: 'you said hello', how: 'end' });
  await proxy.statBecomes('tcp.relay.downstream_cx_total', 1);
  await proxy.statBecomes('cluster.origin.upstream_cx_active', 0);
});

test('TCP: an origin that ended its half still hears the client', async (t) => {
  const { script, peer } = handOver();
  const origin = await startOrigin(t, script);
  const proxy = await runProxy(t, tcpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  client.send('first');
  const upstream = await peer;
  await upstream.take('first');
  upstream.send('bye');
  upstream.end();
  assert.deepEqual(await client.closed(), { rest: 'bye', how: 'end' });
  client.send('still here');

  assert.equal(await upstream.take('still here'), 'still here');
});

test('TCP: a client reset takes its origin connection along', async (t) => {
  const { script, peer } = handOver();
  const origin = await startOrigin(t, script);
  const proxy = await runProxy(t, tcpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  client.send('hello');
  const upstream = await peer;
  await upstream.take('hello');
  client.reset();
  await upstream.closed();

  await proxy.statBecomes('cluster.origin.upstream_cx_active', 0);
});
