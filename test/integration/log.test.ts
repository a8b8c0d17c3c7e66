import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { says, webBootstrap } from './support/bootstraps.js';
import { makeFolder, startProxy } from './support/start-proxy.js';

test('a log that nobody reads slows neither requests nor the admin server, nor the end', async (t) => {
  const pipe = join(makeFolder(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const proxy = await startProxy(
    t,
    webBootstrap([says('/', 'yes')]),
    '--log-path',
    pipe,
    '-l',
    'trace',
  );
  const url = await proxy.listenerUrl('web');

  // Many times what a pipe holds.
  for (let i = 0; i < 2000; i++) assert.equal(await (await fetch(url)).text(), 'yes');
  const started = performance.now();
  assert.equal((await fetch(`${proxy.adminUrl}/ready`)).status, 200);
  assert.ok(performance.now() - started < 2000);
  assert.equal((await proxy.command.end()).code, 0);
});

test('rotations under traffic lose no line', async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, 'now.log');
  const proxy = await startProxy(
    t,
    webBootstrap([says('/', 'yes')]),
    ...['--log-path', path, '--component-log-level', 'http:debug', '--log-format', '%l %n %v'],
  );
  const url = await proxy.listenerUrl('web');
  let [requests, isRotating] = [0, true];
  const traffic = (async () => {
    for (; isRotating; requests++) await (await fetch(url)).text();
  })();
  const rotations = 5;
  for (let i = 0; i < rotations; i++) {
    renameSync(path, join(folder, `${i}.log`));
    proxy.command.process.kill('SIGUSR1');
    while (!existsSync(path)) await sleep(5);
    await sleep(20);
  }
  isRotating = false;
  await traffic;
  assert.equal((await proxy.command.end()).code, 0);

  const names = [...Array.from({ length: rotations }, (_, i) => `${i}.log`), 'now.log'];
  const text = names.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
  assert.equal(text.match(/^debug http .*\bstream complete: direct_response$/gm)?.length, requests);
  assert.match(text, /^info main exiting\n$/m);
});

test("a level that the admin server sets is the data plane's at once", async (t) => {
  const proxy = await startProxy(t, webBootstrap([says('/', 'yes')]), '-l', 'warning');
  const url = await proxy.listenerUrl('web');
  await (await fetch(url)).text();
  assert.doesNotMatch(proxy.command.stderr, /\[debug\]/);
  await fetch(`${proxy.adminUrl}/logging?http=debug`, { method: 'POST' });
  await (await fetch(url)).text();

  await proxy.command.says(
    /\[debug\]\[http\] \[native\/proxy\/stream_end\.cc:\d+\] \[Tags: "ConnectionId":"\d+","StreamId":"\d+"\] stream complete: direct_response\n/,
  );
  assert.doesNotMatch(proxy.command.stderr, /\[debug\]\[connection\]/);
});

test('a crash lets the log be written first, and says what it was', async (t) => {
  const proxy = await startProxy(t, webBootstrap([says('/', 'yes')]));
  const { signal, stderr } = await proxy.command.end('SIGSEGV');

  assert.equal(signal, 'SIGSEGV');
  assert.match(stderr, /starting main dispatch loop\n(.*\n)*fairlead: caught Segmentation fault\n/);
});

test('a flush interval counts once it is over', async (t) => {
  const path = join(makeFolder(t), 'access.log');
  const type = 'type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog';
  const access_log = [{ name: 'envoy.access_loggers.file', typed_config: { '@type': type, path } }];
  const bootstrap = JSON.parse(
    JSON.stringify(webBootstrap([says('/', 'yes')])),
    (key, value: unknown) =>
      key === 'typed_config' && (value as { stat_prefix?: string }).stat_prefix === 'web'
        ? { ...(value as object), access_log }
        : value,
  ) as object;
  const flushes = async (...args: readonly string[]): Promise<string> => {
    const { adminUrl } = await startProxy(t, bootstrap, ...args);
    const end = Date.now() + 10_000;
    let text = '';
    do {
      const answer = await fetch(`${adminUrl}/stats?filter=filesystem.flushed_by_timer`);
      text = await answer.text();
    } while (args.length > 0 && text.endsWith(': 0\n') && Date.now() < end);
    return text;
  };
  assert.equal(await flushes(), 'filesystem.flushed_by_timer: 0\n');
  assert.match(await flushes('--file-flush-interval-msec', '20'), /: [1-9]\d*\n$/);
});
