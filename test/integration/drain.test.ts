// Clients are asked to leave, and none is turned away with its question unanswered.
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { says, webBootstrap } from './support/bootstraps.js';
import { startProxy, type StartedProxy } from './support/start-proxy.js';
import { until } from './support/waits.js';

const connectionOf = async (url: string): Promise<string | null> => {
  const answer = await fetch(url);
  await answer.text();
  return answer.headers.get('connection');
};

const post = async (proxy: StartedProxy, path: string): Promise<void> => {
  assert.equal(await (await fetch(proxy.adminUrl + path, { method: 'POST' })).text(), 'OK\n');
};

const accepts = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

test('while the health check fails, answers ask clients to close and the server is DRAINING', async (t) => {
  const proxy = await startProxy(t, webBootstrap([says('/', 'yes')]));
  const url = await proxy.listenerUrl('web');
  assert.notEqual(await connectionOf(url), 'close');
  await post(proxy, '/healthcheck/fail');
  assert.equal(await connectionOf(url), 'close');
  assert.equal((await fetch(`${proxy.adminUrl}/ready`)).status, 503);
  await post(proxy, '/healthcheck/ok');
  assert.notEqual(await connectionOf(url), 'close');
});

test('a graceful drain listens on for the drain time and then stops', async (t) => {
  const proxy = await startProxy(
    t,
    webBootstrap([says('/', 'yes')]),
    '--drain-time-s',
    '1',
    '--drain-strategy',
    'immediate',
  );
  const url = await proxy.listenerUrl('web');
  await post(proxy, '/drain_listeners?graceful');
  assert.equal(await connectionOf(url), 'close');
  await until(async () => !(await accepts(url)));
});

test('no request is lost while clients are asked to leave and come again', async (t) => {
  const proxy = await startProxy(
    t,
    webBootstrap([says('/', 'yes')]),
    '--drain-strategy',
    'immediate',
  );
  const url = await proxy.listenerUrl('web');
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  t.after(() => agent.destroy());
  const ask = (): Promise<number> =>
    new Promise((resolve, reject) => {
      request(url, { agent }, (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode ?? 0));
      })
        .on('error', reject)
        .end();
    });
  let answered = 0;
  const clients = Array.from({ length: 8 }, async () => {
    for (let i = 0; i < 200; i++) if ((await ask()) === 200) answered++;
  });
  await until(() => Promise.resolve(answered > 200));
  await post(proxy, '/drain_listeners?skip_exit');
  await Promise.all(clients);
  assert.equal(answered, 1600);
  const closed = await fetch(`${proxy.adminUrl}/stats?filter=^http.web.downstream_cx_drain_close$`);
  assert.notEqual(await closed.text(), 'http.web.downstream_cx_drain_close: 0\n');
});
