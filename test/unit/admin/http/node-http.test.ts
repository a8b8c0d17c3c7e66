// What the admin server's clients see on the wire, and what the service hears of them.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import {
  MAX_BODY_BYTES,
  TOO_LONG_BODY,
  type AdminReply,
  type AdminRequest,
  type AdminService,
  type EndedConnection,
  type SentBytes,
} from '../../../../src/admin/http/http.js';
import { nodeHttpTransport, type AdminTransport } from '../../../../src/admin/http/node-http.js';
import { onBug } from '../../../../src/base/bugs.js';
import { loadAddon } from '../../../../src/native.js';
import { pageOf } from '../../support/fake-native.js';

class FakeService implements AdminService {
  readonly requests: AdminRequest[] = [];
  readonly refused: number[] = [];
  readonly finishedBytes: number[] = [];
  readonly abandonedRequests: AdminRequest[] = [];
  readonly ended: EndedConnection[] = [];
  wireBytes = 0;
  receivedBytes = 0;
  cuts = 0;
  connections = 0;
  reply: AdminReply = { body: 'hello' };

  isFull = false;

  connectionOpened(): boolean {
    if (!this.isFull) this.connections += 1;
    return !this.isFull;
  }
  connectionClosed(connection: EndedConnection): void {
    this.connections -= 1;
    this.ended.push(connection);
  }
  received(bytes: number): void {
    this.receivedBytes += bytes;
  }
  answer(request: AdminRequest): AdminReply {
    this.requests.push(request);
    return this.reply;
  }
  refuse(_request: AdminRequest, status: number): AdminReply {
    this.refused.push(status);
    if (status === 413) return { status, body: TOO_LONG_BODY };
    return { status, type: 'plain', body: 'no', fault: 'protocol' };
  }
  abandoned(request: AdminRequest): void {
    this.abandonedRequests.push(request);
  }
  finished(_request: AdminRequest, _reply: AdminReply, { ofBody, onWire, isCut }: SentBytes): void {
    this.finishedBytes.push(ofBody);
    this.wireBytes += onWire;
    if (isCut) this.cuts += 1;
  }
  async untilClosed(): Promise<EndedConnection> {
    for (;;) {
      const [first] = this.ended;
      if (first) return first;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

async function listening(
  t: TestContext,
): Promise<{ service: FakeService; url: string; transport: AdminTransport }> {
  const service = new FakeService();
  const transport = nodeHttpTransport(service);
  const { fd, address } = loadAddon().openListenSocket('127.0.0.1:0', 0, []);
  await transport.listen({ fd });
  t.after(() => transport.close());
  return { service, transport, url: `http://${address}` };
}

/** Sends requests one after the other's answer; all that came back until the connection ended. */
async function exchange(url: string, requests: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  for (const request of requests) {
    socket.write(request);
    text += String(await new Promise((resolve) => socket.once('data', resolve)));
  }
  for await (const more of socket) text += String(more);
  return text;
}

test('an answer carries the headers of every answer, and its own type', async (t) => {
  const running = await listening(t);
  const { service, url } = running;
  service.reply = { status: 400, type: 'json', body: '{}' };

  const answer = await fetch(`${url}/a?b=c`, { headers: { 'user-agent': 'test' } });

  assert.equal(answer.status, 400);
  assert.equal(await answer.text(), '{}');
  const expected = {
    'content-type': 'application/json',
    'cache-control': 'no-cache, max-age=0',
    'x-content-type-options': 'nosniff',
    server: 'envoy',
  };
  for (const [header, value] of Object.entries(expected))
    assert.equal(answer.headers.get(header), value);
  assert.ok(answer.headers.has('date'));
  const [request] = service.requests;
  assert.deepEqual([request?.method, request?.target], ['GET', '/a?b=c']);
  assert.equal(request?.headers['user-agent'], 'test');
  assert.equal(request?.headers.origin, '');
});

test('a body is there in whole when the request is answered', async (t) => {
  const running = await listening(t);
  const body = 'x'.repeat(200_000);

  await fetch(`${running.url}/`, { method: 'POST', body });

  assert.equal(running.service.requests[0]?.body, body);
  assert.equal(running.service.requests[0]?.method, 'POST');
});

test('a body that is too long is refused with a line, and not kept', async (t) => {
  const running = await listening(t);
  const body = 'x'.repeat(MAX_BODY_BYTES + 1);

  const answer = await fetch(`${running.url}/`, { method: 'POST', body });
  assert.equal(answer.status, 413);
  assert.equal(await answer.text(), TOO_LONG_BODY);
  assert.equal(running.service.requests.length, 0);
  assert.equal((await fetch(`${running.url}/`)).status, 200);
});

test('a request whose client leaves before its end is not answered', async (t) => {
  const running = await listening(t);
  const { service, url } = running;
  const head = 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n';
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.end(`${head}abc`);
  socket.resume();

  const { isLocal } = await service.untilClosed();
  assert.equal(isLocal, false);
  assert.equal(service.receivedBytes, head.length + 3);
  assert.deepEqual(
    service.abandonedRequests.map(({ method, body }) => [method, body]),
    [['POST', 'abc']],
  );
  assert.deepEqual(service.requests, []);
});

for (const [sent, what] of [
  ['', 'nothing'],
  ['GET /ready HTTP/1.1\r\nhost: lo', 'part of a head'],
  ['GET / HTTP/1.1\r\nhost: localhost\r\n\r\nGET /re', 'part of a second head'],
] as const) {
  test(`a client that leaves after ${what}: all that came is told of, once`, async (t) => {
    const { service, url } = await listening(t);
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
  const { service, url } = await listening(t);
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
  const { service, url } = await listening(t);
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
  const { service, url } = await listening(t);

  const answers = await exchange(url, ['GET / HTTP/1.1\r\nhost: a\r\n\r\ngarbage\r\n\r\n']);

  assert.match(answers, /^HTTP\/1.1 200 OK[^]*hello\r\n0\r\n\r\nHTTP\/1.1 400 Bad Request/);
  assert.equal(service.requests.length, 1);
});

test('a client that never reads holds no more than what is on its way', async (t) => {
  const { service, url } = await listening(t);
  let pieces = 0;
  service.reply = { body: { next: () => (++pieces < 100_000 ? Buffer.alloc(64 * 1024) : null) } };
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  for (let count = 0; count < 100; count += 1) {
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  }
  let before = -1;
  while (before !== pieces) {
    before = pieces;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }

  assert.equal(service.requests.length, 1);
  assert.ok(pieces < 1000, `${pieces} pieces`);
  socket.destroy();
  await service.untilClosed();
});

test('a connection that is one too many is closed, and nothing is told of it', async (t) => {
  const { service, url } = await listening(t);
  service.isFull = true;

  await assert.rejects(fetch(url));
  assert.deepEqual([service.requests, service.ended], [[], []]);
  service.isFull = false;
  assert.equal((await fetch(url)).status, 200);
});

test('all bytes that were written are told of', async (t) => {
  const { service, url } = await listening(t);
  service.reply = { body: pageOf('a'.repeat(300), 'ä') };
  const answers = await exchange(url, [
    'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n',
    'HEAD / HTTP/1.1\r\nhost: localhost\r\n\r\n',
    'bad\r\n\r\n',
  ]);

  assert.equal(service.wireBytes, Buffer.byteLength(answers));
});

test('an answer is counted before its client can have it', async (t) => {
  const { service, url } = await listening(t);
  let isCounted = false;
  service.finished = () => (isCounted = true);

  await (await fetch(url)).text();

  assert.ok(isCounted);
});

test('HEAD has the headers of the page and no body', async (t) => {
  const running = await listening(t);
  for (const body of ['text', pageOf('page')]) {
    running.service.reply = { body };

    const answers = await exchange(running.url, [
      'HEAD / HTTP/1.1\r\nhost: localhost\r\n\r\n',
      'HEAD / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
    ]);

    const [open = '', closed = '', ...rest] = answers.split('\r\n\r\n');
    assert.match(open, /^HTTP\/1.1 200 OK\r\n[^]*^server: envoy\r?$/m);
    assert.match(open, /^transfer-encoding: chunked$/im);
    assert.doesNotMatch(open, /^(connection|content-length):/im);
    assert.match(closed, /^HTTP\/1.1 200 OK\r\n[^]*^connection: close\r?$/m);
    assert.deepEqual(rest, ['']);
  }
});

test('a page tells no length, and that its connection ends if that is asked for', async (t) => {
  const running = await listening(t);

  const answers = await exchange(running.url, [
    'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n',
    'GET / HTTP/1.1\r\nhost: localhost\r\nconnection: Close\r\n\r\n',
  ]);

  const [open = '', first, closed = '', second, ...rest] = answers.split(/\r\n\r\n(?!0)/);
  assert.match(open, /^transfer-encoding: chunked$/im);
  assert.doesNotMatch(open, /^(connection|content-length):/im);
  assert.match(closed, /^connection: close\r?$/m);
  assert.deepEqual([first, second], ['5\r\nhello\r\n0', '5\r\nhello\r\n0']);
  assert.deepEqual(rest, ['']);
});

test('what is no request of a page gets no headers of one, and the connection ends', async (t) => {
  const running = await listening(t);
  running.service.reply = { status: 400, type: 'plain', body: 'Bad Request', fault: 'protocol' };

  const answer = await fetch(running.url);

  const names = [...answer.headers.keys()].filter((name) => !/^(date|keep-alive)$/.test(name));
  assert.deepEqual(names.sort(), ['connection', 'content-length', 'content-type', 'server']);
  assert.equal(answer.headers.get('connection'), 'close');
  assert.equal(await answer.text(), 'Bad Request');
});

test('a long page arrives whole, however slowly it is read', async (t) => {
  const running = await listening(t);
  const { service, url } = running;
  const pieces = Array.from({ length: 200 }, (_, i) => String(i % 10).repeat(64 * 1024));
  service.reply = { body: pageOf(...pieces) };

  const answer = await fetch(`${url}/`);
  await new Promise((resolve) => setTimeout(resolve, 50));

  assert.equal(await answer.text(), pieces.join(''));
  assert.deepEqual(service.finishedBytes, [200 * 64 * 1024]);
});

test('a client that leaves amid a page ends the work on it', async (t) => {
  const running = await listening(t);
  const { service, url } = running;
  let count = 0;
  service.reply = { body: { next: () => (++count < 100_000 ? Buffer.alloc(64 * 1024) : null) } };

  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await new Promise((resolve) => socket.once('data', resolve));
  socket.destroy();
  await service.untilClosed();

  assert.ok(count < 100_000);
  assert.equal(service.cuts, 1);
  assert.equal(service.connections, 0);
});

test('what comes after an answer comes when it has been written', async (t) => {
  const running = await listening(t);
  const { service, transport, url } = running;
  const closed = new Promise<void>((resolve) => {
    const then = (): void => {
      transport.close();
      resolve();
    };
    service.reply = { body: 'bye', then };
  });

  assert.equal(await (await fetch(`${url}/`)).text(), 'bye');
  await closed;
});

test('where the service fails one connection ends, and the bug is told', async (t) => {
  const bugs: string[] = [];
  t.after(onBug((where, thrown) => bugs.push(`${where}: ${String(thrown)}`)));
  const { service, url } = await listening(t);
  const failing = { answer: () => assert.fail('lost'), finished: () => assert.fail('lost') };
  for (const [name, fail] of Object.entries(failing)) {
    Object.assign(service, { [name]: fail });
    await assert.rejects(fetch(url), name);
    Reflect.deleteProperty(service, name);
  }

  assert.equal(await (await fetch(url)).text(), 'hello');
  assert.ok(bugs.length >= 2);
  for (const bug of bugs)
    assert.equal(bug, 'an admin request: AssertionError [ERR_ASSERTION]: lost');
});

test('a page that fails on its way ends its connection: what came is not taken for all of it', async (t) => {
  const bugs: string[] = [];
  t.after(onBug((where) => bugs.push(where)));
  const { service, url } = await listening(t);
  let pieces = 0;
  const next = (): Buffer => (++pieces < 3 ? Buffer.from('piece') : assert.fail('lost'));
  service.reply = { body: { next } };

  await assert.rejects(async () => (await fetch(url)).text());
  assert.deepEqual(bugs, ['a page of the admin server']);
});
