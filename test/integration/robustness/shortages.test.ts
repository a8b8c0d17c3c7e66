// What runs short: descriptors, room on the disk, memory, connections. The proxy sheds, serves what it can,
// and serves all again afterwards.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { httpBootstrap } from './bootstrap.js';
import { runProxy, type RunningProxy } from './running-proxy.js';
import { connectClient, connectSocket, echoTargets, get, startOrigin } from './sockets.js';

const MONITORS = 'type.googleapis.com/envoy.extensions.resource_monitors';
const HEAP = 'envoy.resource_monitors.fixed_heap';
const CONNECTIONS = 'envoy.resource_monitors.global_downstream_max_connections';

/** Processor time of all threads so far. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

async function answerOf(t: TestContext, port: number, path: string): Promise<string> {
  const client = await connectClient(t, port);
  client.send(get(path, 'connection: close'));
  const { startLine, body } = await client.takeMessage();
  await client.closed();
  return `${startLine} ${body}`;
}

async function connectMany(t: TestContext, port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const socket = await connectSocket(t, port);
    socket.on('error', () => undefined);
    sockets.push(socket);
  }
  return sockets;
}

test('without descriptors accepting waits, without a turn in vain, and goes on by itself', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const proxy = await runProxy(t, httpBootstrap({ origins: [origin.port] }));
  assert.equal(await answerOf(t, proxy.port, '/before'), 'HTTP/1.1 200 OK /before');
  const before = descriptorsOf(proxy.pid);
  execFileSync('prlimit', ['--pid', String(proxy.pid), `--nofile=${before + 12}:`]);
  const clients = await connectMany(t, proxy.port, 60);
  await proxy.says(/cannot accept on listener 'main', tries again/);

  const spent = cpuMs(proxy.pid);
  await sleep(1000);
  const used = cpuMs(proxy.pid) - spent;
  assert.ok(used < 500, `${used} ms of processor time in a second in which nothing could be done`);

  for (const client of clients) client.destroy();
  await proxy.says(/listener 'main' accepts again/);
  assert.equal(await answerOf(t, proxy.port, '/after'), 'HTTP/1.1 200 OK /after');
  await proxy.statBecomes('http.web.downstream_cx_active', 0);
});

test('a full disk loses lines of logs, and nothing else', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const access_log = [
    {
      name: 'full',
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog',
        path: '/dev/full',
      },
    },
  ];
  const proxy = await runProxy(
    t,
    httpBootstrap({ origins: [origin.port], manager: { access_log } }),
    '--file-flush-interval-msec',
    '20',
  );
  for (let i = 0; i < 50; ++i) {
    assert.equal(await answerOf(t, proxy.port, `/${i}`), `HTTP/1.1 200 OK /${i}`);
  }
  assert.ok(await becomesMore(proxy, 'filesystem.write_failed', 0));
  assert.equal(await proxy.stat('http.web.downstream_rq_2xx'), 50);
});

async function becomesMore(proxy: RunningProxy, name: string, than: number): Promise<boolean> {
  for (let i = 0; i < 500; ++i) {
    if ((await proxy.stat(name)) > than) return true;
    await sleep(10);
  }
  return false;
}

test('requests are refused while memory is short, and served again when it is not', async (t) => {
  const origin = await startOrigin(t, echoTargets);
  const bytes = { default_value: 1, runtime_key: 'heap.most' };
  const monitor = {
    name: HEAP,
    typed_config: {
      '@type': `${MONITORS}.fixed_heap.v3.FixedHeapConfig`,
      max_heap_size_bytes_runtime: bytes,
    },
  };
  const action = {
    name: 'envoy.overload_actions.stop_accepting_requests',
    triggers: [{ name: HEAP, threshold: { value: 0.95 } }],
  };
  const proxy = await runProxy(t, {
    ...httpBootstrap({ origins: [origin.port] }),
    layered_runtime: { layers: [{ name: 'admin', admin_layer: {} }] },
    overload_manager: {
      refresh_interval: '0.01s',
      resource_monitors: [monitor],
      actions: [action],
    },
  });
  const active = 'overload.envoy.overload_actions.stop_accepting_requests.active';
  await proxy.statBecomes(active, 1);
  const refused = 'HTTP/1.1 503 Service Unavailable envoy overloaded';
  assert.equal(await answerOf(t, proxy.port, '/'), refused);

  await proxy.setRuntime('heap.most', 1_000_000_000_000);
  await proxy.statBecomes(active, 0);
  for (let i = 0; i < 100; ++i) {
    const answer = await answerOf(t, proxy.port, '/');
    // A worker hears of it a moment later than the page.
    if (answer !== refused) break;
  }
  assert.equal(await answerOf(t, proxy.port, '/again'), 'HTTP/1.1 200 OK /again');
});

test('of a thousand clients as many are served as may be, and no descriptor is left behind', async (t) => {
  const most = 600;
  const origin = await startOrigin(t, echoTargets);
  const monitor = {
    name: CONNECTIONS,
    typed_config: {
      '@type': `${MONITORS}.downstream_connections.v3.DownstreamConnectionsConfig`,
      max_active_downstream_connections: most,
    },
  };
  const proxy = await runProxy(t, {
    ...httpBootstrap({ origins: [origin.port], listener: { stat_prefix: 'main' } }),
    overload_manager: { resource_monitors: [monitor] },
  });
  assert.equal(await answerOf(t, proxy.port, '/'), 'HTTP/1.1 200 OK /');
  await proxy.statBecomes('http.web.downstream_cx_active', 0);
  const before = descriptorsOf(proxy.pid);

  const clients = await connectMany(t, proxy.port, 1000);
  await proxy.statBecomes('listener.main.downstream_global_cx_overflow', 1000 - most);
  assert.equal(await proxy.stat('http.web.downstream_cx_active'), most);
  assert.equal(await proxy.stat(`overload.${CONNECTIONS}.failed_updates`), 1000 - most);

  for (const client of clients) client.destroy();
  await proxy.statBecomes('http.web.downstream_cx_active', 0);
  assert.equal(await answerOf(t, proxy.port, '/'), 'HTTP/1.1 200 OK /');
  assert.ok(descriptorsOf(proxy.pid) <= before + 2);
});
