// Copies of requests, as an operator tries a new version with them.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

async function serve(
  t: TestContext,
  onRequest: (request: IncomingMessage, body: string) => number,
): Promise<number> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => response.writeHead(onRequest(request, body)).end('answer'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test('the new version gets a copy of each request, and nobody sees that it fails', async (t) => {
  const copies: string[] = [];
  let onAll = (): void => undefined;
  const allCame = new Promise<void>((resolve) => {
    onAll = resolve;
  });
  const current = await serve(t, () => 200);
  const next = await serve(t, (request, body) => {
    copies.push(`${request.method ?? ''} ${request.headers.host ?? ''} ${body}`);
    if (copies.length === 3) onAll();
    return 500;
  });
  const route = {
    match: { prefix: '/' },
    route: { cluster: 'current', request_mirror_policies: [{ cluster: 'next' }] },
  };
  const proxy = await startProxy(t, webBootstrap([route], { current, next }));
  const url = await proxy.listenerUrl('web');
  for (const body of ['one', 'two', 'three']) {
    const response = await fetch(url, { method: 'POST', body });
    assert.equal(response.status, 200);
    await response.text();
  }
  await allCame;
  const host = new URL(url).host.replace(':', '-shadow:');
  assert.deepEqual(copies.toSorted(), [
    `POST ${host} one`,
    `POST ${host} three`,
    `POST ${host} two`,
  ]);
});
