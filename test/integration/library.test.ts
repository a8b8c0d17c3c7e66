import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/base/package-root.js';
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

test('a second start() is the first: it changes nothing', async (t) => {
  const proxy = new Proxy(webBootstrap([says('/', 'from within')]), { concurrency: 1 });
  t.after(() => proxy.stop());
  await Promise.all([proxy.start(), proxy.start()]);
  const port = proxy.listeners[0]?.port;
  await proxy.start();

  assert.equal(proxy.listeners[0]?.port, port);
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'from within');
});

test('a proxy that was stopped is not started again, and says what to do', async () => {
  const bootstrap = webBootstrap([says('/', 'from within')]);
  const stopped = new Proxy(bootstrap, { concurrency: 1 });
  await stopped.start();
  await Promise.all([stopped.stop(), stopped.stop()]);
  const unused = new Proxy(bootstrap, { concurrency: 1 });
  await unused.stop();

  for (const proxy of [stopped, unused]) {
    await assert.rejects(proxy.start(), (error) => {
      assert.ok(error instanceof StartError);
      assert.equal(
        error.message,
        'the proxy has been stopped; expected a new Proxy for a new start',
      );
      return true;
    });
  }
});

test('stop() while a proxy starts ends it, and start() says so', async () => {
  const proxy = new Proxy(webBootstrap([says('/', 'from within')]), { concurrency: 1 });
  const starting = proxy.start();
  const stopping = proxy.stop();

  await assert.rejects(starting, /^Error: the proxy has been stopped while it was starting/);
  await stopping;
});

test('a program ends by itself once its proxies are stopped, whenever that was', () => {
  const program = `
    const { Proxy } = require(${JSON.stringify(join(packageRoot(), 'dist', 'index.js'))});
    const bootstrap = ${JSON.stringify(webBootstrap([says('/', 'from within')]))};
    const make = () => new Proxy(bootstrap, { concurrency: 1, logLevel: 'off' });
    async function run() {
      const [late, early, never, left] = [make(), make(), make(), make()];
      await late.start();
      await late.stop();
      await late.start().catch(() => console.log('late'));
      const starting = early.start().catch(() => console.log('early'));
      await Promise.all([starting, early.stop()]);
      await never.stop();
    }
    void run().then(() => console.log('done'));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', program], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  assert.deepEqual([status, stdout, stderr], [0, 'late\nearly\ndone\n', '']);
});
