// What Node's server says of bytes that uWebSockets.js answers by itself, or not at all.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { pageOf } from '../../support/fake-native.js';
import { exchange, listening, type Running } from './running.js';

function byNode(t: TestContext): Running {
  const running = listening(t, 'node:http');
  assert.ok(running);
  return running;
}

for (const [sent, what] of [
  ['', 'nothing'],
  ['GET /ready HTTP/1.1\r\nhost: lo', 'part of a head'],
  ['GET / HTTP/1.1\r\nhost: localhost\r\n\r\nGET /re', 'part of a second head'],
] as const) {
  test(`a client that leaves after ${what}: all that came is told of, once`, async (t) => {
    const { service, url } = byNode(t);
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.resume();
    socket.end(sent);

    const { lengthMs, lastBytes } = await service.untilClosed();
    assert.equal(service.receivedBytes, sent.length);
    assert.equal(lastBytes, sent.length);
    assert.ok(lengthMs >= 0);
    assert.equal(service.abandonedRequests.length, sent === '' ? 0 : 1);
    const [method = ''] = service.abandonedRequests.map((request) => request.method);
    assert.equal(method, '');
  });
}

test('each status of what is no request, and the end of its connection', async (t) => {
  const { service, url } = byNode(t);
  const broken = {
    'garbage\r\n\r\n': 400,
    'GET / HTTP/1.0\r\n\r\n': 426,
    'GET / HTTP/1.2\r\n\r\n': 426,
    'GET / HTTP/1.1\nhost: a\n\n': 400,
    'BREW / HTTP/1.1\r\nhost: a\r\n\r\n': 400,
    'CONNECT a:80 HTTP/1.1\r\nhost: a\r\n\r\n': 400,
    'GET / HTTP/1.1\r\nhost: a/b\r\n\r\n': 400,
    [`GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`]: 431,
    [`GET / HTTP/1.1\r\n${'x: y\r\n'.repeat(101)}\r\n`]: 431,
    'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n': 501,
    'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n': 501,
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n': 400,
    'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n': 400,
  };
  for (const [request, status] of Object.entries(broken)) {
    const answer = await exchange(url, [request]);

    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} [^]*\r\nconnection: close\r\n\r\nno$`));
    assert.equal(service.refused.at(-1), status);
  }
  assert.deepEqual(service.requests, []);
  assert.ok(service.ended.every(({ isLocal }) => isLocal));
});

test('requests that come at once are answered in their order, up to the one that is the last', async (t) => {
  const { service, url } = byNode(t);
  const get = (path: string, more = ''): string =>
    `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${more}\r\n`;
  service.answer = (request) => {
    service.requests.push(request);
    return { body: pageOf(request.target) };
  };

  const answers = await exchange(url, [
    `${get('/1')}${get('/2')}${get('/3', 'connection: x, Close\r\n')}${get('/4')}`,
  ]);

  assert.deepEqual(answers.match(/^\/\d$/gm), ['/1', '/2', '/3']);
  assert.equal(service.requests.length, 3);
  assert.equal(service.abandonedRequests.length, 0);
});

test('what follows a request and is none is refused after its answer', async (t) => {
  const { service, url } = byNode(t);

  const answers = await exchange(url, ['GET / HTTP/1.1\r\nhost: a\r\n\r\ngarbage\r\n\r\n']);

  assert.match(answers, /^HTTP\/1.1 200 OK[^]*hello\r\n0\r\n\r\nHTTP\/1.1 400 Bad Request/);
  assert.equal(service.requests.length, 1);
});

test('all bytes that were written are told of', async (t) => {
  const { service, url } = byNode(t);
  service.reply = { body: pageOf('a'.repeat(300), 'ä') };
  const answers = await exchange(url, [
    'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n',
    'HEAD / HTTP/1.1\r\nhost: localhost\r\n\r\n',
    'bad\r\n\r\n',
  ]);

  assert.equal(service.wireBytes, Buffer.byteLength(answers));
});

test('whoever sends half a head or half a body is told so after a minute', async (t) => {
  const { service, port } = byNode(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (const half of ['GET /rea', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf']) {
    const socket = connect(port, '127.0.0.1');
    socket.write(half);
    const answered = once(socket, 'data');
    const ticking = setInterval(() => t.mock.timers.tick(1000), 1);
    const [text] = (await answered) as [Buffer];
    clearInterval(ticking);
    socket.destroy();

    assert.match(text.toString(), /^HTTP\/1.1 408 Request Timeout\r\n/);
  }
  assert.deepEqual([service.refused, service.requests], [[408, 408], []]);
});
