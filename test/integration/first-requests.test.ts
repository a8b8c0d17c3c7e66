import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { says, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

async function startOrigin(t: TestContext, text: string): Promise<number> {
  const origin = createServer((request, response) => response.end(`${text} ${request.url}`));
  t.after(() => {
    origin.close();
    origin.closeAllConnections();
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  return (origin.address() as AddressInfo).port;
}

test('a request goes to the origin and its answer comes back', async (t) => {
  const port = await startOrigin(t, 'hello');
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'origin' } }];
  const proxy = await startProxy(t, webBootstrap(routes, { origin: port }));

  const answer = await fetch(`${await proxy.listenerUrl('web')}/path?query`);

  assert.equal(answer.status, 200);
  assert.equal(await answer.text(), 'hello /path?query');
  assert.equal(answer.headers.get('server'), 'envoy');
  assert.match(answer.headers.get('x-envoy-upstream-service-time') ?? '', /^\d+$/);
});

test('a path that no route takes is answered with 404 and an empty body', async (t) => {
  const proxy = await startProxy(t, webBootstrap([says('/known', 'yes')]));
  const url = await proxy.listenerUrl('web');

  const answer = await fetch(`${url}/unknown`);
  assert.deepEqual([answer.status, await answer.text()], [404, '']);
  assert.equal(await (await fetch(`${url}/known`)).text(), 'yes');
});

test('what passes is counted', async (t) => {
  const proxy = await startProxy(t, webBootstrap([says('/', 'yes')]));
  const url = await proxy.listenerUrl('web');
  for (let i = 0; i < 3; i++) await (await fetch(url)).text();

  const stats = await (
    await fetch(`${proxy.adminUrl}/stats?filter=^http.web.downstream_rq_2xx$`)
  ).text();
  assert.equal(stats, 'http.web.downstream_rq_2xx: 3\n');
});
