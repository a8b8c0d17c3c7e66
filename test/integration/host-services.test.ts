// Services that are told how hosts do: load reports, and health discovery. The same stories can be told of
// the real server.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { WireWriter } from '../../src/base/wire.js';
import { HTTP2, cluster, toCluster, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';
import { until } from './support/waits.js';

const LOADS = '/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats';
const HEALTH = '/envoy.service.health.v3.HealthDiscoveryService/StreamHealthCheck';
const ORCA = '/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics';
const WEIGHTED =
  'envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin';
const SERVICE = {
  api_type: 'GRPC',
  transport_api_version: 'V3',
  grpc_services: [{ envoy_grpc: { cluster_name: 'service' } }],
};
const BYTES = 2;
const text = (field: number): number => (field << 3) | BYTES;
const number = (field: number): number => field << 3;
const asIs = (bytes: Buffer): Buffer => bytes;

interface Call {
  on(event: 'data', take: (bytes: Buffer) => void): void;
  write(bytes: Buffer): void;
}

/** A service that says this once on each stream; what it hears. */
async function serve(
  t: TestContext,
  method: string,
  says: Uint8Array,
): Promise<{ readonly port: number; readonly heard: Buffer[] }> {
  const server = new Server();
  const heard: Buffer[] = [];
  const answer = (call: Call): void => {
    call.on('data', (bytes) => heard.push(bytes));
    call.write(Buffer.from(says));
  };
  server.register(method, answer, asIs, asIs, 'bidi');
  return { port: await listen(t, server), heard };
}

function listen(t: TestContext, server: Server): Promise<number> {
  t.after(() => server.forceShutdown());
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error);
      else resolve(bound);
    });
  });
}

function bootstrapOf(
  port: number,
  origin: number,
  fields: object,
  shopFields: object = {},
): object {
  const web = webBootstrap([toCluster('/', 'shop')]) as { readonly static_resources: object };
  const shop = { ...cluster('shop', origin), ...shopFields };
  const clusters = [shop, { ...cluster('service', port), ...HTTP2 }];
  return {
    ...web,
    static_resources: { ...web.static_resources, clusters },
    node: { id: 'the-node', cluster: 'the-cluster' },
    ...fields,
  };
}

/** `headers`: of its answers. */
async function origin(
  t: TestContext,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const server = createServer((_, response) => response.writeHead(200, headers).end('yes'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

function duration(out: WireWriter, field: number, ms: number): void {
  out.message(text(field), ms, (inner) => inner.number(number(2), ms * 1e6));
}

/** Loads of the shop, every 100 ms. */
function wantsShop(): Uint8Array {
  const asks = new WireWriter();
  asks.text(text(1), 'shop');
  duration(asks, 2, 100);
  return asks.finish();
}

test('a service hears what clusters have had to do', async (t) => {
  const { port, heard } = await serve(t, LOADS, wantsShop());
  const shop = await origin(t);
  const proxy = await startProxy(
    t,
    bootstrapOf(port, shop, { cluster_manager: { load_stats_config: SERVICE } }),
  );
  const url = await proxy.listenerUrl('web');
  await until(() => heard.length > 0, 'the first message');
  assert.ok(heard[0]?.includes('the-node'));
  await (await fetch(url)).text();
  // total_issued_requests: 1
  const issued = Buffer.from([number(8), 1]);
  await until(
    () => heard.some((one) => one.includes('shop') && one.includes(issued)),
    'a report of a request',
  );
});

test('a service hears of requests that no host was asked for', async (t) => {
  const { port, heard } = await serve(t, LOADS, wantsShop());
  const shop = await origin(t);
  const proxy = await startProxy(
    t,
    bootstrapOf(
      port,
      shop,
      { cluster_manager: { load_stats_config: SERVICE } },
      { circuit_breakers: { thresholds: [{ max_requests: 0 }] } },
    ),
  );
  const url = await proxy.listenerUrl('web');
  await until(() => heard.length > 1, 'a report');
  for (let i = 0; i < 3; ++i) assert.equal((await fetch(url)).status, 503);
  // total_dropped_requests, beside the time that follows it.
  const dropped = (one: Buffer): number => {
    const at = one.lastIndexOf(Buffer.from([number(3)]), one.lastIndexOf(Buffer.from([text(4)])));
    return one.includes('shop') && one[at + 2] === text(4) ? (one[at + 1] ?? 0) : 0;
  };
  await until(
    () => heard.reduce((sum, one) => sum + dropped(one), 0) === 3,
    'reports of three requests',
  );
});

test('a service hears what hosts say of their load, as far as it is to be told', async (t) => {
  const { port, heard } = await serve(t, LOADS, wantsShop());
  const load = 'TEXT cpu_utilization:0.5,named_metrics.queue:3,named_metrics.secret:1';
  const shop = await origin(t, { 'endpoint-load-metrics': load });
  const proxy = await startProxy(
    t,
    bootstrapOf(
      port,
      shop,
      { cluster_manager: { load_stats_config: SERVICE } },
      { lrs_report_endpoint_metrics: ['named_metrics.queue'] },
    ),
  );
  const url = await proxy.listenerUrl('web');
  await until(() => heard.length > 0, 'the first message');
  for (let i = 0; i < 2; ++i) await (await fetch(url)).text();
  await until(() => heard.some((one) => one.includes('named_metrics.queue')), 'the metric');
  assert.ok(!heard.some((one) => one.includes('secret')));
});

test('hosts that are asked for their load get their share by what they say', async (t) => {
  const server = new Server();
  const report = new WireWriter();
  // rps_fractional and application_utilization
  report.double((6 << 3) | 1, 100);
  report.double((9 << 3) | 1, 0.5);
  const asked: Buffer[] = [];
  const answer = (call: Call & { readonly request: Buffer }): void => {
    asked.push(call.request);
    call.write(Buffer.from(report.finish()));
  };
  server.register(ORCA, answer as never, asIs, asIs, 'serverStream');
  const port = await listen(t, server);
  const policy = {
    '@type': `type.googleapis.com/${WEIGHTED}`,
    enable_oob_load_report: true,
    oob_reporting_period: '0.2s',
    blackout_period: '0.05s',
    weight_update_period: '0.1s',
    // The service may be apart from what requests go to.
    oob_reporting_config: { port_value: port },
  };
  const shopFields = {
    load_balancing_policy: {
      policies: [{ typed_extension_config: { name: 'weights', typed_config: policy } }],
    },
  };
  const proxy = await startProxy(t, bootstrapOf(port, await origin(t), {}, shopFields));
  const page = async (path: string): Promise<string> =>
    (await fetch(`${proxy.adminUrl}${path}`)).text();
  const end = Date.now() + 10_000;
  while (!/^shop::.*::weight::200$/m.test(await page('/clusters'))) {
    assert.ok(Date.now() < end, 'it does not come: the weight');
    await sleep(20);
  }
  assert.equal(asked.length, 1);
  assert.match(await page('/stats?filter=lb_orca_oob'), /active_sessions: 1\n/);
  assert.match(await (await fetch(await proxy.listenerUrl('web'))).text(), /yes/);
});

test('a service says which hosts are to be checked, and hears how they are', async (t) => {
  const shop = await origin(t);
  const asks = new WireWriter();
  asks.message(text(1), 'checked', (check, name) => {
    check.text(text(1), name);
    check.message(text(2), name, (health) => {
      for (const field of [1, 2]) duration(health, field, 100);
      for (const field of [4, 5]) {
        health.message(text(field), field, (threshold) => threshold.number(number(1), 1));
      }
      health.message(text(9), name, () => undefined);
    });
    check.message(text(3), name, (place) => {
      place.message(text(2), name, (endpoint) =>
        endpoint.message(text(1), name, (at) =>
          at.message(text(1), name, (socket) => {
            socket.text(text(2), '127.0.0.1');
            socket.number(number(3), shop);
          }),
        ),
      );
    });
  });
  duration(asks, 2, 100);
  const { port, heard } = await serve(t, HEALTH, asks.finish());
  const proxy = await startProxy(t, bootstrapOf(port, shop, { hds_config: SERVICE }));
  await until(() => heard.length > 0, 'the first message');
  assert.ok(heard[0]?.includes('the-node'));
  // health_status: HEALTHY
  const healthy = Buffer.from([number(2), 1]);
  await until(
    () => heard.slice(1).some((one) => one.includes('checked') && one.includes(healthy)),
    'a host that is well',
  );
  const clusters = await (await fetch(`${proxy.adminUrl}/clusters`)).text();
  assert.ok(!clusters.includes('checked'));
});
