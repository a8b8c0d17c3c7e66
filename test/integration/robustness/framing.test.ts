// Messages whose end two readers could see in two places: the proxy either passes on what is certain, or
// refuses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpBootstrap } from './bootstrap.js';
import { runProxy } from './running-proxy.js';
import { connectClient, startOrigin } from './sockets.js';

const CHUNKED_POST = 'POST / HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n';

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
