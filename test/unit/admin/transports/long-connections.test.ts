// Connections of the admin server that last: answers that go on, requests one after the other, clients that
// do not read, and the end.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { pageOf } from '../../support/fake-native.js';
import { exchange, listening, TRANSPORTS } from './running.js';
import { closing } from '../../support/closing.js';

for (const name of Object.keys(TRANSPORTS)) {
  test(`${name}: after an answer that goes on, its connection takes another request or was said to end`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    const { service, port } = running;
    const listen = (write: (piece: Buffer) => void, end: () => void): (() => void) => {
      setImmediate(() => {
        write(Buffer.from('one'));
        end();
      });
      return () => undefined;
    };
    service.reply = { body: { isChunked: true, listen } };
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (bytes) => (text += String(bytes)));
    socket.write('GET /first HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    while (!text.includes('3\r\none\r\n0\r\n\r\n')) await once(socket, 'data');
    if (/^connection: close\r$/m.test(text)) {
      if (!socket.readableEnded) await once(socket, 'end');
      return;
    }
    service.reply = { body: 'two' };
    socket.write('GET /second HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    while (!text.includes('two')) await once(socket, 'data');
    socket.destroy();
  });

  test(`${name}: a client that never reads holds no more than what is on its way`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    const { service, url } = running;
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

  test(`${name}: short answers to requests that come at once come in their order`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    const { service, url } = running;
    // As many as are answered at once, however busy the machine is.
    const count = 15;
    service.answer = ({ target }) => ({ body: target });
    const requests = Array.from(
      { length: count },
      (_, index) => `GET /${index} HTTP/1.1\r\nhost: a\r\n\r\n`,
    );
    const last = 'GET /last HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';

    const answers = await exchange(url, [requests.join('') + last]);

    const expected = Array.from({ length: count }, (_, index) => `/${index}`);
    assert.deepEqual(answers.match(/^\/\w+$/gm), [...expected, '/last']);
  });

  test(`${name}: a request in two halves is answered, and so is what follows it later`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    const { service, port } = running;
    service.answer = ({ target, body }) => ({ body: pageOf(target, body) });
    const socket = connect(port, '127.0.0.1');
    t.after(() => socket.destroy());
    let text = '';
    socket.on('data', (bytes) => (text += String(bytes)));
    const said = async (pattern: RegExp): Promise<void> => {
      while (!pattern.test(text)) await once(socket, 'data');
    };
    const half = async (bytes: string): Promise<void> => {
      socket.write(bytes);
      await new Promise((resolve) => setTimeout(resolve, 20));
    };
    await half('GET /fi');
    await half('rst HTTP/1.1\r\nho');
    socket.write('st: a\r\n\r\n');
    await said(/first\r\n0\r\n\r\n$/);
    await half('POST /second HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nab');
    socket.write('cd');
    await said(/abcd\r\n0\r\n\r\n$/);
    await half('POST /third HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nef');
    socket.write('g\r\n0\r\n\r\n');
    await said(/efg\r\n0\r\n\r\n$/);
  });

  test(`${name}: the head of an answer that goes on comes before its body`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    const { service, url } = running;
    for (const isChunked of [true, false]) {
      let write: (piece: Buffer) => void = () => undefined;
      let end = (): void => undefined;
      let left = 0;
      service.reply = {
        type: isChunked ? 'text' : 'events',
        body: {
          isChunked,
          listen: (toWrite, toEnd) => {
            [write, end] = [toWrite, toEnd];
            return () => (left += 1);
          },
        },
      };

      const answer = await fetch(url);
      assert.equal(answer.headers.get('transfer-encoding'), isChunked ? 'chunked' : null);
      write(Buffer.from('one '));
      write(Buffer.from('two'));
      end();

      assert.equal(await answer.text(), 'one two');
      assert.equal(service.finishedBytes.at(-1), 'one two'.length);
      while (left === 0) await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual([left, service.cuts], [1, 0]);
    }
  });

  test(`${name}: whoever leaves an answer that goes on is told of, once`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    const { service, port } = running;
    const left = new Promise<void>((resolve) => {
      service.reply = { body: { isChunked: true, listen: () => resolve } };
    });
    const socket = connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n');
    await once(socket, 'data');
    socket.destroy();

    await left;
    await service.untilClosed();
    assert.deepEqual([service.cuts, service.finishedBytes, service.connections], [1, [0], 0]);
  });

  test(`${name}: whoever does not read an answer that goes on is sent away`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    const { service, port } = running;
    let write: (piece: Buffer) => void = () => undefined;
    service.reply = {
      body: {
        listen: (toWrite) => {
          write = toWrite;
          return () => undefined;
        },
      },
    };
    const socket = connect(port, '127.0.0.1');
    t.after(() => socket.destroy());
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await once(socket, 'data');
    socket.pause();
    const piece = Buffer.alloc(1024 * 1024);
    let mebibytes = 0;
    for (; service.ended.length === 0 && mebibytes < 200; mebibytes += 1) {
      write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }

    assert.ok(mebibytes < 100, `${mebibytes} MiB were taken`);
    assert.equal(service.cuts, 1);
  });

  test(`${name}: who has connected before the end is answered, and nobody after it`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    const { service, url, port, close } = running;
    const idle = connect(port, '127.0.0.1');
    await once(idle, 'connect');
    idle.resume();
    const idleEnd = closing(idle);
    const pieces = Array.from({ length: 100 }, () => 'x'.repeat(64 * 1024));
    service.reply = { body: pageOf(...pieces) };
    const answer = await fetch(url);
    // It is in the kernel's queue, where nobody has seen it.
    const late = connect(port, '127.0.0.1');
    late.on('error', () => undefined);
    late.resume();
    const lateEnd = closing(late);
    await new Promise<void>((resolve) => process.nextTick(resolve));
    close();

    assert.equal((await answer.text()).length, pieces.join('').length);
    await Promise.all([idleEnd, lateEnd]);
    await assert.rejects(fetch(url));
    while (service.connections > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(service.cuts, 0);
  });

  test(`${name}: 200 clients that send 200 requests each and read nothing cost little`, async (t) => {
    const running = listening(t, name);
    if (!running) return;
    const { service, port, url } = running;
    const body = 'x'.repeat(20_000);
    service.answer = ({ target }) => ({ body: target === '/ready' ? 'LIVE' : body });
    const before = process.memoryUsage.rss();
    const clients = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const client = connect(port, '127.0.0.1');
        client.on('error', () => undefined);
        client.pause();
        await once(client, 'connect');
        return client;
      }),
    );
    t.after(() => clients.forEach((client) => client.destroy()));
    for (const client of clients) client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(200));
    let longestMs = 0;
    for (let count = 0; count < 50; count += 1) {
      // What others who are at work on this machine take does not count.
      const began = process.cpuUsage();
      assert.equal(await (await fetch(`${url}/ready`)).text(), 'LIVE');
      const { user, system } = process.cpuUsage(began);
      longestMs = Math.max(longestMs, (user + system) / 1000);
    }

    assert.ok(longestMs < 1000, `an answer took ${longestMs} ms`);
    const grownMiB = (process.memoryUsage.rss() - before) / 2 ** 20;
    assert.ok(grownMiB < 150, `${grownMiB} MiB more`);
  });
}
