// Where statistics go: to servers of each kind, which are here what the proxy sends to.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { get } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { address, says, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';
import { freePort, until } from './support/waits.js';

const METRICS = 'type.googleapis.com/envoy.config.metrics.v3';
const NODE = { id: 'the-node', cluster: 'the-cluster' };

/** Nobody listens there. */

/** A web server that sends statistics to `sinks` ten times a second; `clusters`: their ports. */
function withSinks(
  sinks: readonly object[],
  clusters: Readonly<Record<string, number>> = {},
): object {
  return {
    ...webBootstrap([says('/', 'yes')], clusters),
    node: NODE,
    stats_flush_interval: '0.1s',
    stats_sinks: sinks,
  };
}

async function datagrams(
  t: TestContext,
): Promise<{ readonly port: number; readonly got: string[] }> {
  const socket = createSocket('udp4');
  const got: string[] = [];
  socket.on('message', (bytes) => got.push(bytes.toString()));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return { port: socket.address().port, got };
}

test('statsd gets each counter, gauge and value as a datagram; DogStatsD with tags, in bunches', async (t) => {
  const plain = await datagrams(t);
  const tagged = await datagrams(t);
  const proxy = await startProxy(
    t,
    withSinks([
      {
        name: 'envoy.stat_sinks.statsd',
        typed_config: { '@type': `${METRICS}.StatsdSink`, address: address(plain.port) },
      },
      {
        name: 'envoy.stat_sinks.dog_statsd',
        typed_config: {
          '@type': `${METRICS}.DogStatsdSink`,
          address: address(tagged.port),
          prefix: 'dog',
          max_bytes_per_datagram: 400,
        },
      },
    ]),
  );
  const url = await proxy.listenerUrl('web');
  for (let i = 0; i < 3; ++i) await (await fetch(url)).text();

  const total = 'http.web.downstream_rq_total:';
  const sum = () =>
    plain.got
      .filter((line) => line.startsWith(`envoy.${total}`))
      .reduce((all, line) => all + Number(/:(\d+)\|c$/.exec(line)?.[1]), 0);
  await until(() => sum() === 3);
  await until(
    () => plain.got.filter((line) => line.includes('web.downstream_rq_time:')).length === 3,
  );
  const prefix = 'envoy.http_conn_manager_prefix:web';
  const tags = `#envoy.response_code_class:2,${prefix}`;
  const taggedLines = () => tagged.got.flatMap((datagram) => datagram.split('\n'));
  const taggedSum = () =>
    taggedLines()
      .map((line) => /^dog\.http\.downstream_rq_xx:(\d+)\|c\|(.*)$/.exec(line))
      .filter((match) => match?.[2] === tags)
      .reduce((all, match) => all + Number(match?.[1]), 0);
  await until(() => taggedSum() === 3);
  assert.ok(plain.got.every((line) => /^envoy\.[^\n]+:\d+\|(c|g|ms)$/.test(line)));
  assert.ok(tagged.got.some((datagram) => datagram.includes('\n')));
  assert.ok(tagged.got.every((datagram) => datagram.length <= 400));
});

test('gauges of circuit breakers are sent although nobody reads them', async (t) => {
  const plain = await datagrams(t);
  const origin = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
  }).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => origin.close());
  const { port } = origin.address() as AddressInfo;
  const proxy = await startProxy(t, {
    ...webBootstrap([{ match: { prefix: '/' }, route: { cluster: 'origin' } }], { origin: port }),
    stats_flush_interval: '0.1s',
    stats_sinks: [
      {
        name: 'envoy.stat_sinks.statsd',
        typed_config: { '@type': `${METRICS}.StatsdSink`, address: address(plain.port) },
      },
    ],
  });
  const url = await proxy.listenerUrl('web');
  assert.equal((await fetch(url)).status, 200);
  const gauge = 'envoy.cluster.origin.circuit_breakers.default.rq_open:0|g';
  await until(() => plain.got.includes(gauge));
});

test('statsd over TCP gets lines, also what came since the last flush when the proxy ends', async (t) => {
  let text = '';
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('data', (bytes) => (text += bytes.toString()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const proxy = await startProxy(t, {
    ...withSinks(
      [
        {
          name: 'envoy.stat_sinks.statsd',
          typed_config: {
            '@type': `${METRICS}.StatsdSink`,
            tcp_cluster_name: 'statsd',
            prefix: 'pre',
          },
        },
      ],
      { statsd: port },
    ),
    stats_flush_interval: '299s',
  });
  await (await fetch(await proxy.listenerUrl('web'))).text();
  await proxy.command.end();
  await until(() => text.includes('pre.http.web.downstream_rq_total:1|c\n'));
  assert.equal(sockets.length, 1);
});

test('statsd over TCP that refuses is told of once, and once when it is back; only what left is counted', async (t) => {
  const port = await freePort();
  const proxy = await startProxy(
    t,
    withSinks(
      [
        {
          name: 'envoy.stat_sinks.statsd',
          typed_config: { '@type': `${METRICS}.StatsdSink`, tcp_cluster_name: 'statsd' },
        },
      ],
      { statsd: port },
    ),
  );
  const log = () =>
    proxy.command.stderr.split('\n').filter((line) => line.includes('statsd server'));
  const sent = async (): Promise<number> => {
    const name = 'cluster.statsd.upstream_cx_tx_bytes_total';
    const page = await fetch(`${proxy.adminUrl}/stats?filter=${name}`);
    return Number((await page.text()).split(': ')[1]);
  };
  await until(() => log().length > 0);
  // As many flushes again.
  await sleep(500);
  assert.equal(log().length, 1, log().join('\n'));
  assert.match(log()[0] ?? '', /ECONNREFUSED.*; statistics are lost until it is back/);
  assert.equal(await sent(), 0);

  let got = 0;
  const server = createServer((socket) => socket.on('data', (bytes) => (got += bytes.length)));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  await until(() => got > 0);
  await until(() => log().length === 2);
  assert.match(log()[1] ?? '', /is back/);
  const counted = await sent();
  await until(() => got >= counted);
});

test('a metrics service gets all metrics in a stream that begins with the node', async (t) => {
  const messages: Buffer[] = [];
  const server = new Server();
  const asIs = (bytes: Buffer): Buffer => bytes;
  const path = '/envoy.service.metrics.v3.MetricsService/StreamMetrics';
  server.register(
    path,
    (call: { on(event: 'data', take: (bytes: Buffer) => void): void }) =>
      call.on('data', (bytes) => messages.push(bytes)),
    asIs,
    asIs,
    'clientStream',
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  t.after(() => server.forceShutdown());
  await startProxy(
    t,
    withSinks(
      [
        {
          name: 'envoy.stat_sinks.metrics_service',
          typed_config: {
            '@type': `${METRICS}.MetricsServiceConfig`,
            emit_tags_as_labels: true,
            grpc_service: { envoy_grpc: { cluster_name: 'metrics' } },
          },
        },
      ],
      { metrics: port },
    ),
  );
  await until(() => messages.length >= 2);
  const [first, second] = messages.map((bytes) => bytes.toString('latin1'));
  // Field 1, the identifier, comes but once; then come families, field 2.
  assert.equal(messages[0]?.[0], 0x0a);
  assert.ok(first?.includes(NODE.id));
  assert.equal(messages[1]?.[0], 0x12);
  assert.ok(second?.includes('cluster.membership_total') && second.includes('envoy.cluster_name'));
});

test('a metrics service that refuses is told of once, and once when it is back', async (t) => {
  const port = await freePort();
  const proxy = await startProxy(
    t,
    withSinks(
      [
        {
          name: 'envoy.stat_sinks.metrics_service',
          typed_config: {
            '@type': `${METRICS}.MetricsServiceConfig`,
            grpc_service: { envoy_grpc: { cluster_name: 'metrics' } },
          },
        },
      ],
      { metrics: port },
    ),
  );
  const log = () =>
    proxy.command.stderr.split('\n').filter((line) => line.includes('metrics service'));
  await until(() => log().length > 0);
  // As many flushes again.
  await sleep(500);
  assert.equal(log().length, 1, log().join('\n'));

  const server = new Server();
  const asIs = (bytes: Buffer): Buffer => bytes;
  const path = '/envoy.service.metrics.v3.MetricsService/StreamMetrics';
  server.register(path, (call: { resume(): void }) => call.resume(), asIs, asIs, 'clientStream');
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  t.after(() => server.forceShutdown());
  await until(() => log().length === 2);
  assert.match(log()[1] ?? '', /is back/);
});

test('a Hystrix dashboard gets two events for each cluster at every flush, until it leaves', async (t) => {
  const proxy = await startProxy(
    t,
    withSinks(
      [
        {
          name: 'envoy.stat_sinks.hystrix',
          typed_config: { '@type': `${METRICS}.HystrixSink`, num_buckets: 3 },
        },
      ],
      { idle: 1 },
    ),
  );
  let text = '';
  const request = get(`${proxy.adminUrl}/hystrix_event_stream`, (response) => {
    assert.equal(response.headers['content-type'], 'text/event-stream');
    assert.equal(response.headers['transfer-encoding'], undefined);
    response.on('data', (bytes: Buffer) => (text += bytes.toString()));
    response.on('error', () => undefined);
  });
  request.on('error', () => undefined);
  t.after(() => request.destroy());

  await until(() => (text.match(/\n:\n\n/g) ?? []).length >= 2);
  assert.match(text, /^data: \{"type": "HystrixCommand", "name": "idle", "group": "NA"/);
  assert.match(text, /"type": "HystrixThreadPool", "reportingHosts": 1/);
  for (const line of text.split('\n').filter((one) => one.endsWith('}'))) {
    JSON.parse(line.slice('data: '.length));
  }
  assert.match(
    await (await fetch(`${proxy.adminUrl}/stats?filter=idle.retry`)).text(),
    /cluster\.idle\.retry\.upstream_rq_4xx: 0\n/,
  );
});
