// Requests that are none: each is refused with its own answer, the connection ends, the next client is
// served, and nothing of it reaches an origin.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpBootstrap } from './bootstrap.js';
import { runProxy } from './running-proxy.js';
import { connectClient, echoTargets, get, startOrigin } from './sockets.js';

const BAD_REQUEST = 'HTTP/1.1 400 Bad Request';
const UPGRADE_REQUIRED = 'HTTP/1.1 426 Upgrade Required';
const TOO_LARGE = 'HTTP/1.1 431 Request Header Fields Too Large';
const NOT_IMPLEMENTED = 'HTTP/1.1 501 Not Implemented';

const refusals: readonly { what: string; sent: string; answer: string }[] = [
  {
    what: 'bytes that are no HTTP',
    sent: '\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n',
    answer: BAD_REQUEST,
  },
  {
    what: 'a method in lower case',
    sent: 'get / HTTP/1.1\r\nhost: test\r\n\r\n',
    answer: BAD_REQUEST,
  },
  { what: 'an unknown method', sent: 'FOO / HTTP/1.1\r\nhost: test\r\n\r\n', answer: BAD_REQUEST },
  {
    what: 'a target without a slash',
    sent: 'GET nowhere HTTP/1.1\r\nhost: test\r\n\r\n',
    answer: BAD_REQUEST,
  },
  {
    what: 'a control byte in the path',
    sent: 'GET /\x01 HTTP/1.1\r\nhost: test\r\n\r\n',
    answer: BAD_REQUEST,
  },
  {
    what: 'a byte beyond ASCII in the path',
    sent: 'GET /\xff HTTP/1.1\r\nhost: test\r\n\r\n',
    answer: BAD_REQUEST,
  },
  { what: 'a header without a colon', sent: get('/', 'nonsense'), answer: BAD_REQUEST },
  { what: 'a header without a name', sent: get('/', ': value'), answer: BAD_REQUEST },
  { what: 'a blank before the colon', sent: get('/', 'name : value'), answer: BAD_REQUEST },
  { what: 'a bracket in a name', sent: get('/', 'na(me: value'), answer: BAD_REQUEST },
  { what: 'a NUL in a value', sent: get('/', 'name: va\0lue'), answer: BAD_REQUEST },
  {
    what: 'content-length and chunked',
    sent: get('/', 'content-length: 5', 'transfer-encoding: chunked'),
    answer: BAD_REQUEST,
  },
  {
    what: 'two content-lengths',
    sent: get('/', 'content-length: 5', 'content-length: 6'),
    answer: BAD_REQUEST,
  },
  {
    what: 'a content-length that is no number',
    sent: get('/', 'content-length: five'),
    answer: BAD_REQUEST,
  },
  { what: 'a negative content-length', sent: get('/', 'content-length: -1'), answer: BAD_REQUEST },
  {
    what: 'a transfer coding that is not chunked',
    sent: get('/', 'transfer-encoding: gzip'),
    answer: NOT_IMPLEMENTED,
  },
  {
    what: 'a transfer coding before chunked',
    sent: get('/', 'transfer-encoding: gzip, chunked'),
    answer: NOT_IMPLEMENTED,
  },
  { what: 'two hosts', sent: get('/', 'host: other'), answer: BAD_REQUEST },
  { what: 'the same host twice', sent: get('/', 'host: test'), answer: BAD_REQUEST },
  {
    what: 'a host with user information',
    sent: 'GET / HTTP/1.1\r\nhost: user@test\r\n\r\n',
    answer: BAD_REQUEST,
  },
  {
    what: 'a transfer coding in HTTP/1.0',
    sent: 'POST / HTTP/1.0\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    answer: UPGRADE_REQUIRED,
  },
  { what: 'a CR in a content-length', sent: get('/', 'content-length: 1\r2'), answer: BAD_REQUEST },
  {
    what: 'a CR in a transfer coding',
    sent: get('/', 'transfer-encoding: chu\rnked'),
    answer: BAD_REQUEST,
  },
  { what: 'a CR in any value', sent: get('/', 'name: va\rlue'), answer: BAD_REQUEST },
  { what: 'a CR before a line end', sent: get('/', 'name: value\r'), answer: BAD_REQUEST },
  {
    what: 'a transfer coding on a folded line',
    sent: get('/', 'transfer-encoding:\r\n chunked'),
    answer: BAD_REQUEST,
  },
  { what: 'a folded host', sent: 'GET / HTTP/1.1\r\nhost:\r\n test\r\n\r\n', answer: BAD_REQUEST },
  {
    what: 'lines that end with a bare LF',
    sent: 'GET / HTTP/1.1\nhost: test\n\n',
    answer: BAD_REQUEST,
  },
  { what: 'a value with a bare LF', sent: get('/', 'name: va\nother: lue'), answer: BAD_REQUEST },
  {
    what: 'a head of more than 60 KiB',
    sent: get('/', `name: ${'v'.repeat(62_000)}`),
    answer: TOO_LARGE,
  },
  { what: 'a target of more than 60 KiB', sent: get(`/${'p'.repeat(62_000)}`), answer: TOO_LARGE },
  {
    what: 'more than 100 headers',
    sent: get('/', ...Array.from({ length: 100 }, (_, i) => `name-${i}: v`)),
    answer: TOO_LARGE,
  },
  {
    what: '100,000 headers',
    sent: get('/', ...Array.from({ length: 100_000 }, (_, i) => `n${i}: v`)),
    answer: TOO_LARGE,
  },
];

test('what is no request is refused, its connection ends, and no origin hears of it', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const manager = { delayed_close_timeout: '0.05s' };
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port], manager }));

  for (const { what, sent, answer } of refusals) {
    await t.test(`${what}: ${answer.slice('HTTP/1.1 '.length)}`, async (t) => {
      const client = await connectClient(t, proxy.port);
      client.send(sent);
      assert.equal((await client.takeMessage()).startLine, answer);
      await client.closed();
    });
  }

  await t.test('the next client is served as if nothing had been', async (t) => {
    const client = await connectClient(t, proxy.port);
    client.send(get('/fine'));
    assert.equal((await client.takeMessage()).body, '/fine');
  });
  assert.equal(origin.connectionCount, 1);
  assert.equal(await proxy.stat('http.web.downstream_rq_4xx'), refusals.length - 2);
});

test('a head that comes byte by byte is a request all the same', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  for (const byte of get('/slowly', 'accept: */*')) {
    client.send(byte);
    await new Promise(setImmediate);
  }

  assert.equal((await client.takeMessage()).body, '/slowly');
});

test('100 headers and 59,000 bytes are within the limits', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  client.send(get('/many', ...Array.from({ length: 99 }, (_, i) => `name-${i}: v`)));
  assert.equal((await client.takeMessage()).body, '/many');
  client.send(get('/large', `name: ${'v'.repeat(58_900)}`));
  assert.equal((await client.takeMessage()).body, '/large');
});

test('a chunk size that is no number ends the request with 400, and its origin connection', async (t) => {
  const origin = await startOrigin(t, async (peer) => {
    await peer.take('\r\n\r\n');
  });
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  const client = await connectClient(t, proxy.port);

  client.send('POST / HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n');
  await proxy.statBecomes('cluster.origin.upstream_rq_active', 1);
  client.send('zz\r\n');

  assert.equal((await client.takeMessage()).startLine, BAD_REQUEST);
  await client.closed();
  await proxy.statBecomes('cluster.origin.upstream_cx_active', 0);
});
