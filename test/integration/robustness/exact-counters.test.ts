// What was counted is what happened, whichever worker counted it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpBootstrap } from './bootstrap.js';
import { runProxy } from './running-proxy.js';
import { connectClient, echoTargets, get, startOrigin } from './sockets.js';

const CONNECTIONS = 40;
const REQUESTS_EACH = 25;
const REQUESTS = CONNECTIONS * REQUESTS_EACH;

test('two workers: after N requests every counter of requests is N', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }), '--concurrency', '2');
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => connectClient(t, proxy.port)),
  );

  await Promise.all(
    clients.map(async (client) => {
      for (let i = 0; i < REQUESTS_EACH; ++i) {
        client.send(get(`/${i}`));
        await client.takeMessage();
      }
    }),
  );

  const expected = {
    'http.web.downstream_rq_total': REQUESTS,
    'http.web.downstream_rq_http1_total': REQUESTS,
    'http.web.downstream_rq_2xx': REQUESTS,
    'http.web.downstream_rq_completed': REQUESTS,
    'http.web.downstream_rq_active': 0,
    'http.web.downstream_cx_total': CONNECTIONS,
    'http.web.downstream_cx_active': CONNECTIONS,
    'cluster.origin.upstream_rq_total': REQUESTS,
    'cluster.origin.upstream_rq_200': REQUESTS,
    'cluster.origin.upstream_rq_completed': REQUESTS,
    'cluster.origin.upstream_rq_active': 0,
    'cluster.origin.upstream_cx_total': origin.connectionCount,
    'server.concurrency': 2,
  };
  for (const [name, value] of Object.entries(expected)) {
    assert.equal(await proxy.stat(name), value, name);
  }
});

test('bytes are counted as they were on the wire', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);
  const request = get('/counted');

  let answered = 0;
  client.socket.on('data', (bytes: Buffer) => (answered += bytes.length));
  for (let i = 0; i < 3; ++i) {
    client.send(request);
    await client.takeMessage();
  }

  assert.equal(await proxy.stat('http.web.downstream_cx_rx_bytes_total'), 3 * request.length);
  assert.equal(await proxy.stat('http.web.downstream_cx_tx_bytes_total'), answered);
});
