// Redirects of hosts that the proxy follows itself, as an operator moves pages to another host.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { toCluster, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

async function serve(
  t: TestContext,
  onRequest: (request: IncomingMessage, body: string, response: ServerResponse) => void,
): Promise<number> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      onRequest(request, body, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test('a client gets the page from where it is now, and its body goes there', async (t) => {
  const old = await serve(t, (_request, _body, response) => {
    response.writeHead(307, { location: 'http://pages.test/new/page?x=1' }).end('moved');
  });
  const current = await serve(t, (request, body, response) => {
    const from = String(request.headers['x-envoy-original-url']);
    response.end(`${request.method ?? ''} ${request.url ?? ''} ${body} from ${from}`);
  });
  const followed = {
    match: { prefix: '/old' },
    route: { cluster: 'old', internal_redirect_policy: { redirect_response_codes: [307] } },
  };
  const routes = [followed, toCluster('/', 'current')];
  const proxy = await startProxy(t, webBootstrap(routes, { old, current }));
  const url = await proxy.listenerUrl('web');
  const body = 'b'.repeat(100_000);
  const response = await fetch(`${url}/old/page`, { method: 'POST', body });
  assert.equal(response.status, 200);
  const from = `http://${new URL(url).host}/old/page`;
  assert.equal(await response.text(), `POST /new/page?x=1 ${body} from ${from}`);
  const stats = await (await fetch(`${proxy.adminUrl}/stats?filter=internal_redirect_succ`)).text();
  assert.match(stats, /cluster\.old\.upstream_internal_redirect_succeeded_total: 1/);
});
