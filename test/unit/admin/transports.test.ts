// The same rules for both transports.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  MAX_BODY_BYTES,
  TOO_LONG_BODY,
  type AdminReply,
  type AdminRequest,
  type AdminService,
  type AdminTransport,
  type SentBytes,
} from '../../../src/admin/http.js';
import { nodeHttpTransport } from '../../../src/admin/node-http.js';
import { uwebsocketsTransport } from '../../../src/admin/uwebsockets.js';
import { pageOf } from '../support/fake-native.js';

class FakeService implements AdminService {
  readonly requests: AdminRequest[] = [];
  readonly finishedBytes: number[] = [];
  readonly abandonedBytes: number[] = [];
  cuts = 0;
  connections = 0;
  reply: AdminReply = { body: 'hello' };

  connectionOpened(): void {
    this.connections += 1;
  }
  connectionClosed(): void {
    this.connections -= 1;
  }
  answer(request: AdminRequest): AdminReply {
    this.requests.push(request);
    return this.reply;
  }
  abandoned(wireBytes: number): void {
    this.abandonedBytes.push(wireBytes);
  }
  finished(_request: AdminRequest, _reply: AdminReply, { ofBody, isCut }: SentBytes): void {
    this.finishedBytes.push(ofBody);
    if (isCut) this.cuts += 1;
  }
  async untilFinished(): Promise<void> {
    while (this.finishedBytes.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

type MakeTransport = (service: AdminService) => AdminTransport | undefined;
const TRANSPORTS: Readonly<Record<string, MakeTransport>> = {
  'node:http': nodeHttpTransport,
  'uWebSockets.js': uwebsocketsTransport,
};

async function listening(
  t: TestContext,
  make: MakeTransport,
): Promise<{ service: FakeService; url: string; transport: AdminTransport } | undefined> {
  const service = new FakeService();
  const transport = make(service);
  if (!transport) {
    t.skip('no binary fits this Node');
    return undefined;
  }
  const address = await transport.listen({ host: '127.0.0.1', port: 0 });
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

for (const [name, make] of Object.entries(TRANSPORTS)) {
  test(`${name}: an answer carries the headers of every answer, and its own type`, async (t) => {
    const running = await listening(t, make);
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
    assert.deepEqual(
      [...answer.headers.keys()].filter((header) => header.startsWith('uweb')),
      [],
    );
    const [request] = service.requests;
    assert.deepEqual([request?.method, request?.target], ['GET', '/a?b=c']);
    assert.equal(request?.headers['user-agent'], 'test');
    assert.equal(request?.headers.origin, '');
  });

  test(`${name}: a body is there in whole when the request is answered`, async (t) => {
    const running = await listening(t, make);
    if (!running) return;
    const body = 'x'.repeat(200_000);

    await fetch(`${running.url}/`, { method: 'POST', body });

    assert.equal(running.service.requests[0]?.body, body);
    assert.equal(running.service.requests[0]?.method, 'POST');
  });

  test(`${name}: a body that is too long is refused with a line, and not kept`, async (t) => {
    const running = await listening(t, make);
    if (!running) return;
    const body = 'x'.repeat(MAX_BODY_BYTES + 1);

    const answer = await fetch(`${running.url}/`, { method: 'POST', body });
    assert.equal(answer.status, 413);
    assert.equal(await answer.text(), TOO_LONG_BODY);
    assert.equal(running.service.requests.length, 0);
    assert.equal((await fetch(`${running.url}/`)).status, 200);
  });

  test(`${name}: a request whose client leaves before its end is not answered`, async (t) => {
    const running = await listening(t, make);
    if (!running) return;
    const { service, url } = running;
    const head = 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n';
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const abandoned = new Promise<void>((resolve) => {
      service.abandoned = (bytes) => {
        service.abandonedBytes.push(bytes);
        resolve();
      };
    });
    socket.end(`${head}abc`);
    socket.resume();

    await abandoned;
    assert.deepEqual(service.abandonedBytes, [head.length + 3]);
    assert.deepEqual(service.requests, []);
  });

  test(`${name}: HEAD has the headers of the page and no body`, async (t) => {
    const running = await listening(t, make);
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
    }
  });

  test(`${name}: a page tells no length, and that its connection ends if that is asked for`, async (t) => {
    const running = await listening(t, make);
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
    const running = await listening(t, make);
    if (!running) return;
    running.service.reply = { status: 400, type: 'plain', body: 'Bad Request', isBare: true };

    const answer = await fetch(running.url);

    const names = [...answer.headers.keys()].filter((name) => !/^(date|keep-alive)$/.test(name));
    assert.deepEqual(names.sort(), ['connection', 'content-length', 'content-type', 'server']);
    assert.equal(answer.headers.get('connection'), 'close');
    assert.equal(await answer.text(), 'Bad Request');
  });

  test(`${name}: a long page arrives whole, however slowly it is read`, async (t) => {
    const running = await listening(t, make);
    if (!running) return;
    const { service, url } = running;
    const pieces = Array.from({ length: 200 }, (_, i) => String(i % 10).repeat(64 * 1024));
    service.reply = { body: pageOf(...pieces) };

    const answer = await fetch(`${url}/`);
    await new Promise((resolve) => setTimeout(resolve, 50));

    assert.equal(await answer.text(), pieces.join(''));
    await service.untilFinished();
    assert.deepEqual(service.finishedBytes, [200 * 64 * 1024]);
  });

  test(`${name}: a client that leaves amid a page ends the work on it`, async (t) => {
    const running = await listening(t, make);
    if (!running) return;
    const { service, url } = running;
    let count = 0;
    service.reply = { body: { next: () => (++count < 100_000 ? Buffer.alloc(64 * 1024) : null) } };

    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.destroy();
    await service.untilFinished();

    assert.ok(count < 100_000);
    assert.equal(service.cuts, 1);
    assert.equal(service.connections, 0);
  });

  test(`${name}: what comes after an answer comes when it has been written`, async (t) => {
    const running = await listening(t, make);
    if (!running) return;
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

  test(`${name}: an address that is taken is named`, async (t) => {
    const running = await listening(t, make);
    if (!running) return;
    const port = Number(new URL(running.url).port);
    const second = make(new FakeService());

    await assert.rejects(async () => second?.listen({ host: '127.0.0.1', port }), {
      message: `cannot bind '127.0.0.1:${port}': Address already in use`,
    });
    second?.close();
  });
}

for (const [name, make] of Object.entries(TRANSPORTS)) {
  test(`${name}: an address that is not this machine's is named, with the reason`, async (t) => {
    const transport = make(new FakeService());
    if (!transport) return t.skip('no binary fits this Node');

    await assert.rejects(transport.listen({ host: '192.0.2.77', port: 9901 }), {
      message: "cannot bind '192.0.2.77:9901': Address not available",
    });
    transport.close();
  });
}

test('uWebSockets.js: an answer is counted before its client can have it', async (t) => {
  const running = await listening(t, uwebsocketsTransport);
  if (!running) return;
  const { service, url } = running;
  const order: string[] = [];
  service.finished = () => order.push('counted');
  service.answer = () => {
    // The answer leaves when the transport's turn is over.
    queueMicrotask(() => order.push('sent'));
    return { body: 'hello' };
  };

  await (await fetch(url)).text();

  assert.deepEqual(order, ['counted', 'sent']);
});

test('a pipe is served by node:http, with the mode that is asked for', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-test-'));
  t.after(() => rm(folder, { recursive: true }));
  const pipe = join(folder, 'admin');
  const transport = nodeHttpTransport(new FakeService());
  t.after(() => transport.close());

  assert.equal(await transport.listen({ pipe, mode: 0o640 }), pipe);
  assert.equal(statSync(pipe).mode & 0o777, 0o640);
  const status = await new Promise((resolve, reject) => {
    const request = httpRequest({ socketPath: pipe, path: '/ready' }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    request.on('error', reject).end();
  });
  assert.equal(status, 200);
});
