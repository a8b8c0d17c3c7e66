import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Proxy, StartError } from '../../src/index.js';
import { says, webBootstrap } from './support/bootstraps.js';

test('a proxy inside a Node program: its ports, its statistics, its end', async () => {
  const proxy = new Proxy(webBootstrap([says('/', 'from within')]), { concurrency: 1 });
  await proxy.start();
  const [listener] = proxy.listeners;
  assert.equal(listener?.name, 'web');

  const url = `http://127.0.0.1:${listener.port}/`;
  assert.equal(await (await fetch(url)).text(), 'from within');
  assert.equal(proxy.stat('http.web.downstream_rq_2xx'), 1);
  assert.equal((await fetch(`http://${proxy.adminAddress}/ready`)).status, 200);
  await proxy.stop();
  await assert.rejects(fetch(url));
});

test('a bootstrap that is wrong is a StartError with every problem', () => {
  assert.throws(
    () => new Proxy({ no_such_field: 1, nor_this: 2 }),
    (error) => error instanceof StartError && error.message.split('\n').length === 2,
  );
});
