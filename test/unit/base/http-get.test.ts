import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { httpGet } from '../../../src/base/http-get.js';

const PATIENCE_MS = 10_000;

async function serve(t: TestContext, answer: RequestListener): Promise<URL> {
  const server = createServer(answer);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a?b=c`);
}

test('an answer is its status and its text, whatever the status is', async (t) => {
  const url = await serve(t, ({ url: path }, response) => {
    response.writeHead(404).end(`no ${path}, né`);
  });
  assert.deepEqual(await httpGet(url, PATIENCE_MS), { status: 404, text: 'no /a?b=c, né' });
});

test('a server that goes on for ever, without an end or without a word, has no answer', async (t) => {
  const endless = await serve(t, (_, response) => {
    const more = (): void => void response.write('x'.repeat(65_536), more);
    more();
  });
  assert.equal(await httpGet(endless, PATIENCE_MS), undefined);
  const silent = await serve(t, () => undefined);
  assert.equal(await httpGet(silent, 50), undefined);
  const halfway = await serve(t, (_, response) => response.write('{'));
  assert.equal(await httpGet(halfway, 50), undefined);
});

test('where nobody listens there is no answer', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  t.after(() => server.close());
  assert.equal(await httpGet(new URL(`http://127.0.0.1:${port}/`), PATIENCE_MS), undefined);
});
