import assert from 'node:assert/strict';
import { createServer as createHttp1 } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { test, type TestContext } from 'node:test';
import { HttpPool } from '../../../src/http/http-pool.js';
import type { ControlHost } from '../../../src/native.js';
import { ControlClusters } from '../../../src/plan/control-clusters.js';
import type { GrpcClusterPlan } from '../../../src/plan/service-plan.js';

const LONGEST_BYTES = 1000;

/** A pool to one host, and what it has counted. */
async function pool(
  t: TestContext,
  server: Server,
  speaks: GrpcClusterPlan['speaks'],
  maxRequests = 0,
): Promise<{ readonly pool: HttpPool; readonly counted: ReadonlyMap<string, number> }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host: ControlHost = {
    address: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
  };
  const counted = new Map<string, number>();
  const nameOf = (ip?: string, port?: number): string =>
    ip === undefined
      ? 'nobody'
      : ip === host.address && port === host.port
        ? 'the host'
        : 'another';
  const native = {
    chooseHost: () => host,
    hostAdd: () => undefined,
    takeBudget: (_: string, budget: string) => stats.count(`taken ${budget}`) !== undefined,
    returnBudget: (_: string, budget: string) => void stats.count(`taken ${budget}`, -1),
    countAnswer: (_: string, status: number, ip?: string, port?: number, isCanary?: boolean) =>
      void stats.count(`${status} of ${nameOf(ip, port)}${isCanary ? ', a canary' : ''}`),
    recordAnswerTime: (_: string, _ms: number, ip: string, port: number, isCanary: boolean) =>
      void stats.count(`time of ${nameOf(ip, port)}${isCanary ? ', a canary' : ''}`),
    addHttp2Stats: () => undefined,
    countRetried: () => undefined,
    addTo: () => true,
    addGoogleGrpcStats: () => '',
    removeStats: () => undefined,
    clusterPrefix: () => '',
  };
  const stats = {
    count: (name: string, amount = 1) => counted.set(name, (counted.get(name) ?? 0) + amount),
    setGauge: (name: string, value: number) => counted.set(name, value),
    record: () => undefined,
  };
  const plan: GrpcClusterPlan = {
    ...{
      name: 'one',
      connectTimeoutMs: 1000,
      idleTimeoutMs: 0,
      maxConnectionMs: 0,
      maxStreamMs: 0,
    },
    ...{ maxRequests, http2: { settings: {} }, speaks },
  };
  const clusters = new ControlClusters();
  clusters.set('one', plan);
  const made = new HttpPool('one', clusters, { native, stats }, LONGEST_BYTES);
  t.after(() => {
    made.close();
    server.close();
  });
  return { pool: made, counted };
}

const get = (path: string, signal?: AbortSignal): Parameters<HttpPool['ask']>[0] => ({
  ...{ method: 'GET', path, headers: { host: 'h' } },
  ...(signal && { signal }),
});

test('a cluster of HTTP/2 is asked over one connection, whatever is asked at once', async (t) => {
  const server = createHttp2((request, response) => {
    setTimeout(
      () => response.end(`${request.httpVersion} ${request.authority} ${request.url}`),
      20,
    );
  });
  const { pool: http, counted } = await pool(t, server, 'HTTP/2');
  const answers = await Promise.all([http.ask(get('/a')), http.ask(get('/b'))]);
  assert.deepEqual(
    answers.map((answer) => answer?.body.toString()),
    ['2.0 h /a', '2.0 h /b'],
  );
  assert.equal(counted.get('upstream_cx_total'), 1);
  assert.equal(counted.get('upstream_cx_http2_total'), 1);
  assert.equal(counted.get('upstream_rq_total'), 2);
  assert.equal(counted.get('upstream_rq_pending_total'), 2);
  assert.equal(counted.get('upstream_rq_pending_active'), 0);
  assert.equal(counted.get('http2.streams_active'), 0);
});

test('answers and their times are counted as their host’s, and as a canary’s that says so', async (t) => {
  const canary = { 'x-envoy-upstream-canary': 'true' };
  const server = createHttp1(({ url }, response) => {
    if (url === '/broken') response.destroy();
    else response.writeHead(200, url === '/canary' ? canary : {}).end();
  });
  const { pool: http, counted } = await pool(t, server, 'HTTP/1');
  for (const path of ['/', '/canary', '/broken']) await http.ask(get(path));
  const answers = [...counted].filter(([name]) => name.includes(' of '));
  assert.deepEqual(answers, [
    ['200 of the host', 1],
    ['time of the host', 1],
    ['200 of the host, a canary', 1],
    ['time of the host, a canary', 1],
    ['503 of the host', 1],
  ]);
});

test('a request that is late ends alone in HTTP/2, and with its connection in HTTP/1', async (t) => {
  const late = (url: string | undefined, end: () => void): unknown => url === '/late' || end();
  const h2 = createHttp2((request, response) => void late(request.url, () => response.end('ok')));
  const h1 = createHttp1((request, response) => void late(request.url, () => response.end('ok')));
  for (const [server, speaks, connections] of [
    [h2, 'HTTP/2', 1],
    [h1, 'HTTP/1', 2],
  ] as const) {
    const { pool: http, counted } = await pool(t, server, speaks);
    assert.equal((await http.ask(get('/')))?.body.toString(), 'ok');
    assert.equal((await http.ask(get('/late', AbortSignal.timeout(50))))?.status, 504);
    assert.equal((await http.ask(get('/')))?.body.toString(), 'ok');
    assert.equal(counted.get('upstream_cx_total'), connections, speaks);
    assert.equal(counted.get('upstream_rq_timeout'), 1);
    assert.equal(counted.get('upstream_rq_active'), 0);
  }
});

test('an answer that is too long breaks off', async (t) => {
  const h2 = createHttp2((_, response) => response.end('x'.repeat(LONGEST_BYTES + 1)));
  const h1 = createHttp1((_, response) => response.end('x'.repeat(LONGEST_BYTES + 1)));
  for (const [server, speaks] of [
    [h2, 'HTTP/2'],
    [h1, 'HTTP/1'],
  ] as const) {
    const { pool: http } = await pool(t, server, speaks);
    assert.equal(await http.ask(get('/')), undefined, speaks);
  }
});

test('what is given up while its connection is dialled takes no more than itself along', async (t) => {
  const h2 = createHttp2((_, response) => response.end('ok'));
  const h1 = createHttp1((_, response) => response.end('ok'));
  for (const [server, speaks, connections] of [
    [h2, 'HTTP/2', 1],
    [h1, 'HTTP/1', 2],
  ] as const) {
    const { pool: http, counted } = await pool(t, server, speaks);
    const [late, other] = await Promise.all([
      http.ask(get('/', AbortSignal.abort())),
      http.ask(get('/')),
    ]);
    assert.equal(late?.status, 504);
    assert.equal(other?.body.toString(), 'ok', speaks);
    assert.equal(counted.get('upstream_cx_total'), connections, speaks);
    assert.equal(counted.get('upstream_cx_active'), 1, speaks);
    assert.equal(counted.get('taken connections'), 1);
    assert.equal(counted.get('taken pending_requests'), 0);
    assert.equal(counted.get('taken requests'), 0);
    assert.equal(counted.get('upstream_rq_pending_active'), 0);
    assert.equal(counted.get('upstream_rq_active'), 0);
  }
});

test('a connection of HTTP/2 carries no more requests than its cluster allows', async (t) => {
  const server = createHttp2((_, response) => response.end('ok'));
  const { pool: http, counted } = await pool(t, server, 'HTTP/2', 2);
  const answers = await Promise.all(['/a', '/b', '/c'].map((path) => http.ask(get(path))));
  assert.deepEqual(
    answers.map((answer) => answer?.status),
    [200, 200, 200],
  );
  assert.equal(counted.get('upstream_cx_total'), 2);
  assert.equal(counted.get('upstream_cx_max_requests'), 1);
});
