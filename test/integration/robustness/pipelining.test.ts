// Several requests on their way on one connection.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpBootstrap } from './bootstrap.js';
import { runProxy } from './running-proxy.js';
import { connectClient, echoTargets, get, startOrigin } from './sockets.js';

test('a thousand requests in one write are answered in their order', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);
  const paths = Array.from({ length: 1000 }, (_, index) => `/${index}`);

  client.send(paths.map((path) => get(path)).join(''));

  for (const path of paths) assert.equal((await client.takeMessage()).body, path);
  assert.equal(await proxy.stat('http.web.downstream_rq_total'), 1000);
  assert.equal(await proxy.stat('http.web.downstream_cx_total'), 1);
});

test('a body that ends amid a write does not touch the request behind it', async (t) => {
  const origin = await startOrigin(t, async (peer) => {
    for (;;) {
      const { body } = await peer.takeMessage();
      peer.send(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    }
  });
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);
  const post = (body: string): string =>
    `POST / HTTP/1.1\r\nhost: test\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

  client.send(post('one') + post('') + post(get('/not-a-request')) + post('four'));

  for (const body of ['one', '', get('/not-a-request'), 'four']) {
    assert.equal((await client.takeMessage()).body, body);
  }
  assert.equal(await proxy.stat('http.web.downstream_rq_total'), 4);
});

test('requests behind connection: close are not answered', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  client.send(get('/last', 'connection: close') + get('/too-late'));
  const { headers, body } = await client.takeMessage();
  const { rest } = await client.closed();

  assert.equal(body, '/last');
  assert.ok(headers.includes('connection: close'), headers.join(', '));
  assert.equal(rest, '');
  assert.equal(await proxy.stat('cluster.origin.upstream_rq_total'), 1);
});

test('a malformed request behind good ones: they are answered first, then 400', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  client.send(`${get('/a')}${get('/b')}nonsense\r\n\r\n`);

  assert.equal((await client.takeMessage()).body, '/a');
  assert.equal((await client.takeMessage()).body, '/b');
  assert.equal((await client.takeMessage()).startLine, 'HTTP/1.1 400 Bad Request');
  await client.closed();
});
