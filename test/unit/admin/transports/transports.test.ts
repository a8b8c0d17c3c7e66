// What the admin server's clients see on the wire, and what the service hears of them, whoever speaks HTTP.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { MAX_BODY_BYTES, TOO_LONG_BODY } from '../../../../src/admin/http/http.js';
import { onBug } from '../../../../src/base/bugs.js';
import { pageOf } from '../../support/fake-native.js';
import { exchange, listening, TRANSPORTS } from './running.js';

for (const name of Object.keys(TRANSPORTS)) {
  test(`${name}: an answer carries the headers of every answer, and its own type`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
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

  test(`${name}: a body is there in whole when the request is answered`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    const body = 'x'.repeat(200_000);

    await fetch(`${running.url}/`, { method: 'POST', body });

    assert.equal(running.service.requests[0]?.body, body);
    assert.equal(running.service.requests[0]?.method, 'POST');
  });

  test(`${name}: a body that is too long is refused with a line, and not kept`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    const body = 'x'.repeat(MAX_BODY_BYTES + 1);

    const answer = await fetch(`${running.url}/`, { method: 'POST', body });
    assert.equal(answer.status, 413);
    assert.equal(await answer.text(), TOO_LONG_BODY);
    assert.equal(running.service.requests.length, 0);
    assert.equal((await fetch(`${running.url}/`)).status, 200);
  });

  test(`${name}: a request whose client leaves before its end is not answered`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
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

  test(`${name}: a connection that is one too many is closed, and nothing is told of it`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    const { service, url } = running;
    service.isFull = true;

    await assert.rejects(fetch(url));
    assert.deepEqual([service.requests, service.ended], [[], []]);
    service.isFull = false;
    assert.equal((await fetch(url)).status, 200);
  });

  test(`${name}: an answer is counted before its client can have it`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    const { service, url } = running;
    let isCounted = false;
    service.finished = () => (isCounted = true);

    await (await fetch(url)).text();

    assert.ok(isCounted);
  });

  test(`${name}: HEAD has the headers of the page and no body`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
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
      // A text counts as the real server counts it.
      if (typeof body === 'string') assert.deepEqual(running.service.finishedBytes, [4, 4]);
    }
  });

  test(`${name}: a page tells no length, and that its connection ends if that is asked for`, async (t) => {
    const running = listening(t, name);
    if (!running) return;

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

  test(`${name}: what is no request of a page gets no headers of one, and the connection ends`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    running.service.reply = { status: 400, type: 'plain', body: 'Bad Request', fault: 'protocol' };

    const answer = await fetch(running.url);

    const names = [...answer.headers.keys()].filter((name) => !/^(date|keep-alive)$/.test(name));
    assert.deepEqual(names.sort(), ['connection', 'content-length', 'content-type', 'server']);
    assert.equal(answer.headers.get('connection'), 'close');
    assert.equal(await answer.text(), 'Bad Request');
  });

  test(`${name}: a long page arrives whole, however slowly it is read`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    const { service, url } = running;
    const pieces = Array.from({ length: 200 }, (_, i) => String(i % 10).repeat(64 * 1024));
    service.reply = { body: pageOf(...pieces) };

    const answer = await fetch(`${url}/`);
    await new Promise((resolve) => setTimeout(resolve, 50));

    assert.equal(await answer.text(), pieces.join(''));
    assert.deepEqual(service.finishedBytes, [200 * 64 * 1024]);
  });

  test(`${name}: a client that leaves amid a page ends the work on it`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
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

  test(`${name}: what comes after an answer comes when it has been written`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    const { service, close, url } = running;
    const closed = new Promise<void>((resolve) => {
      const then = (): void => {
        close();
        resolve();
      };
      service.reply = { body: 'bye', then };
    });

    assert.equal(await (await fetch(`${url}/`)).text(), 'bye');
    await closed;
  });

  test(`${name}: where the service fails one connection ends, and the bug is told`, async (t) => {
    const bugs: string[] = [];
    t.after(onBug((where, thrown) => bugs.push(`${where}: ${String(thrown)}`)));
    const running = listening(t, name);
    if (!running) return;
    const { service, url } = running;
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

  test(`${name}: a page that fails on its way ends its connection: what came is not taken for all of it`, async (t) => {
    const bugs: string[] = [];
    t.after(onBug((where) => bugs.push(where)));
    const running = listening(t, name);
    if (!running) return;
    const { service, url } = running;
    let pieces = 0;
    const next = (): Buffer => (++pieces < 3 ? Buffer.from('piece') : assert.fail('lost'));
    service.reply = { body: { next } };

    await assert.rejects(async () => (await fetch(url)).text());
    assert.deepEqual(bugs, ['a page of the admin server']);
  });
}
