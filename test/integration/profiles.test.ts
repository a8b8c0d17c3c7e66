import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { says, webBootstrap } from './support/bootstraps.js';
import { makeFolder, startProxy } from './support/start-proxy.js';

const GO = ['/usr/local/go/bin/go', '/usr/bin/go'].find((path) => existsSync(path));

/** What `go tool pprof` makes of a profile; the story is skipped without it. */
function pprof(t: TestContext, path: string, ...args: readonly string[]): string {
  if (GO === undefined) {
    t.skip('go is not installed');
    return '';
  }
  const { status, stdout, stderr } = spawnSync(GO, ['tool', 'pprof', ...args, path], {
    encoding: 'utf8',
    env: { ...process.env, PPROF_TMPDIR: makeFolder(t) },
  });
  assert.equal(status, 0, stderr);
  return stdout;
}

/** Requests in a row on one connection, as many as the proxy takes: its worker is never idle. */
async function pipelineFor(url: string, ms: number): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const requests = 'GET / HTTP/1.1\r\nhost: web\r\n\r\n'.repeat(1000);
  const end = Date.now() + ms;
  socket.resume();
  while (Date.now() < end) {
    if (!socket.write(requests)) await once(socket, 'drain');
  }
  socket.destroy();
}

async function scrapeFor(url: string, ms: number): Promise<void> {
  const end = Date.now() + ms;
  while (Date.now() < end) await (await fetch(url)).text();
}

test('a CPU profile shows the functions of workers and of the control thread', async (t) => {
  const profile_path = join(makeFolder(t), 'cpu.prof');
  const bootstrap = webBootstrap([says('/', 'yes')]);
  const admin = { ...(bootstrap['admin'] as object), profile_path };
  const proxy = await startProxy(t, { ...bootstrap, admin });
  const switchTo = (enable: string): Promise<Response> =>
    fetch(`${proxy.adminUrl}/cpuprofiler?enable=${enable}`, { method: 'POST' });

  assert.equal((await switchTo('y')).status, 200);
  await Promise.all([
    pipelineFor(await proxy.listenerUrl('web'), 1000),
    scrapeFor(`${proxy.adminUrl}/stats`, 1000),
  ]);
  assert.equal((await switchTo('n')).status, 200);

  const top = pprof(t, profile_path, '-top', '-cum', '-nodecount=400');
  if (top === '') return;
  assert.match(top, /Type: cpu/);
  assert.match(top, /fairlead::net::Loop::turn/);
  assert.match(pprof(t, profile_path, '-tags'), /control[^]*worker_0|worker_0[^]*control/);
});

test('a heap profile and a heap dump are opened by pprof', async (t) => {
  const folder = makeFolder(t);
  const profile_path = join(folder, 'heap.prof');
  const bootstrap = webBootstrap([says('/', 'yes')]);
  const admin = { ...(bootstrap['admin'] as object), profile_path };
  const proxy = await startProxy(t, { ...bootstrap, admin });
  const post = (path: string): Promise<Response> =>
    fetch(`${proxy.adminUrl}${path}`, { method: 'POST' });

  assert.equal((await post('/heapprofiler?enable=y')).status, 200);
  for (let i = 0; i < 20; i++) await (await fetch(`${proxy.adminUrl}/config_dump`)).text();
  const dump = join(folder, 'dump.prof');
  writeFileSync(
    dump,
    Buffer.from(await (await fetch(`${proxy.adminUrl}/heap_dump`)).arrayBuffer()),
  );
  assert.equal((await post('/heapprofiler?enable=n')).status, 200);

  for (const path of [profile_path, dump]) {
    assert.ok(statSync(path).size > 0);
    const top = pprof(t, path, '-top');
    if (top !== '') assert.match(top, /Type: space/);
  }
});
