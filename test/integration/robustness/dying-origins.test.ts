// Origins that die: before they answer, amid an answer, between answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpBootstrap } from './bootstrap.js';
import { runProxy } from './running-proxy.js';
import { connectClient, echoTargets, get, startOrigin } from './sockets.js';

const TERMINATED =
  'upstream connect error or disconnect/reset before headers. reset reason: connection termination';
const REFUSED =
  'upstream connect error or disconnect/reset before headers. reset reason: remote connection failure';

test('an origin that closes instead of answering: 503, and the client keeps its connection', async (t) => {
  const origin = await startOrigin(t, async (peer) => {
    await peer.takeMessage();
    peer.socket.destroy();
  });
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  for (const path of ['/first', '/second']) {
    client.send(get(path));
    const { startLine, body } = await client.takeMessage();
    assert.equal(startLine, 'HTTP/1.1 503 Service Unavailable');
    assert.equal(body, TERMINATED);
  }
  assert.equal(await proxy.stat('cluster.origin.upstream_cx_total'), 2);
  assert.equal(await proxy.stat('cluster.origin.upstream_cx_active'), 0);
});

test('an origin killed amid an answer of known length: the client gets what came, then the end', async (t) => {
  const origin = await startOrigin(t, async (peer) => {
    await peer.takeMessage();
    peer.send('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf');
    peer.socket.end();
  });
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  client.send(get('/'));
  const { rest } = await client.closed();

  assert.match(rest, /^HTTP\/1\.1 200 OK\r\n/);
  assert.match(rest, /\r\n\r\nhalf$/);
  assert.equal(await proxy.stat('http.web.downstream_rq_active'), 0);
});

test('an origin killed amid chunks: the client never sees the last chunk', async (t) => {
  const origin = await startOrigin(t, async (peer) => {
    await peer.takeMessage();
    peer.send('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n');
    peer.socket.end();
  });
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  client.send(get('/'));
  const { rest } = await client.closed();

  assert.match(rest, /4\r\nhalf\r\n/);
  assert.doesNotMatch(rest, /0\r\n\r\n$/);
});

test('a killed origin that comes back on its port serves the next request', async (t) => {
  const first = await startOrigin(t, echoTargets);
  const proxy = await runProxy(t, httpBootstrap({ origins: [first.port] }));
  const client = await connectClient(t, proxy.port);

  client.send(get('/alive'));
  assert.equal((await client.takeMessage()).body, '/alive');
  await first.kill();
  await proxy.statBecomes('cluster.origin.upstream_cx_active', 0);
  client.send(get('/dead'));
  const dead = await client.takeMessage();
  await startOrigin(t, echoTargets, first.port);
  client.send(get('/back'));
  const back = await client.takeMessage();

  assert.equal(dead.startLine, 'HTTP/1.1 503 Service Unavailable');
  assert.equal(dead.body, REFUSED);
  assert.equal(back.body, '/back');
});

test('one of three origins killed amid traffic: every request is answered, by a 200 or a 503', async (t) => {
  const origins = await Promise.all([1, 2, 3].map(() => startOrigin(t, echoTargets)));
  const proxy = await runProxy(t, httpBootstrap({ origins: origins.map(({ port }) => port) }));
  const clients = await Promise.all(Array.from({ length: 20 }, () => connectClient(t, proxy.port)));
  const statuses = new Map<string, number>();
  let answered = 0;

  await Promise.all(
    clients.map(async (client) => {
      for (let i = 0; i < 50; ++i) {
        client.send(get(`/${i}`));
        const { startLine } = await client.takeMessage();
        statuses.set(startLine, (statuses.get(startLine) ?? 0) + 1);
        if (++answered === 300) await origins[1]?.kill();
      }
    }),
  );

  const ok = statuses.get('HTTP/1.1 200 OK') ?? 0;
  const unavailable = statuses.get('HTTP/1.1 503 Service Unavailable') ?? 0;
  assert.equal(ok + unavailable, 1000);
  assert.ok(ok >= 600, `only ${ok} requests were served`);
  assert.ok(unavailable > 0, 'nobody noticed that an origin is dead');
  assert.equal(await proxy.stat('http.web.downstream_rq_2xx'), ok);
  assert.equal(await proxy.stat('http.web.downstream_rq_5xx'), unavailable);
});

test('an origin that answers nonsense: 502, and its connection is not used again', async (t) => {
  const origin = await startOrigin(t, async (peer) => {
    await peer.takeMessage();
    peer.send('SSH-2.0-OpenSSH_9.2\r\n\r\n');
  });
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  client.send(get('/'));
  const { startLine, body } = await client.takeMessage();

  assert.equal(startLine, 'HTTP/1.1 502 Bad Gateway');
  assert.match(body, /protocol error$/);
  assert.equal(await proxy.stat('cluster.origin.upstream_cx_protocol_error'), 1);
  await proxy.statBecomes('cluster.origin.upstream_cx_active', 0);
});
