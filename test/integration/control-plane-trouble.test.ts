// Control planes that say nothing, nonsense, or far too much: what was there before them is served.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { ADMIN_ONLY, address, planeCluster, says, webRoutes } from './support/bootstraps.js';
import { CLUSTER, ControlPlane, LISTENER, type Message } from './support/control-plane.js';
import { startProxy } from './support/start-proxy.js';
import { until } from './support/waits.js';
import { stat } from './support/stats.js';

const ANY = 'type.googleapis.com/';
const HCM = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const ROUTER = 'envoy.extensions.filters.http.router.v3.Router';
const ADS = { ads: {}, resource_api_version: 'V3', initial_fetch_timeout: '0.3s' };

const bootstrap = (port: number): Message => ({
  ...ADMIN_ONLY,
  node: { id: 'one', cluster: 'many' },
  dynamic_resources: {
    ads_config: {
      api_type: 'GRPC',
      transport_api_version: 'V3',
      grpc_services: [
        {
          envoy_grpc: {
            cluster_name: 'plane',
            retry_policy: { retry_back_off: { base_interval: '0.02s' } },
          },
        },
      ],
    },
    cds_config: ADS,
    lds_config: ADS,
  },
  static_resources: {
    listeners: [
      {
        ...{ name: 'web', address: address(0) },
        filter_chains: [
          {
            filters: [
              {
                name: 'http',
                typed_config: {
                  ...{ '@type': ANY + HCM, stat_prefix: 'web' },
                  route_config: webRoutes([says('/', 'well')]),
                  http_filters: [{ name: 'router', typed_config: { '@type': ANY + ROUTER } }],
                },
              },
            ],
          },
        ],
      },
    ],
    clusters: [planeCluster(port)],
  },
});

test('a control plane that accepts and says nothing is not waited for longer than is said', async (t) => {
  const silent = createServer((socket) => socket.on('error', () => undefined)).listen(
    0,
    '127.0.0.1',
  );
  await once(silent, 'listening');
  t.after(() => silent.close());
  const proxy = await startProxy(t, bootstrap((silent.address() as AddressInfo).port));
  assert.equal(await (await fetch(await proxy.listenerUrl('web'))).text(), 'well');
  assert.equal(await stat(proxy, 'cluster_manager.cds.init_fetch_timeout'), 1);
});

test('nonsense and 100 MiB change nothing, and a control plane is found again', async (t) => {
  const plane = await ControlPlane.start(t);
  plane.set(LISTENER, '1', []);
  plane.set(CLUSTER, '1', [{ name: 'first' }]);
  const proxy = await startProxy(t, bootstrap(plane.port));
  const url = await proxy.listenerUrl('web');
  const isThere = async (): Promise<boolean> =>
    (await (await fetch(`${proxy.adminUrl}/clusters`)).text()).includes('first::');
  await until(isThere, 'the cluster');
  // What is no protobuf ends a stream, as a broken connection would.
  for (const nonsense of ['ff'.repeat(40), '0affffffff0f']) {
    const { streamCount } = plane;
    plane.sendBytes(Buffer.from(nonsense, 'hex'));
    await until(async () => plane.streamCount > streamCount, 'another stream');
  }
  await until(async () => plane.requests.at(-1)?.response_nonce !== '', 'all that is asked');
  plane.sendBytes(plane.responseOf(CLUSTER, 100 * 2 ** 20));
  await until(async () => plane.refusals.length > 0, 'a refusal');
  assert.ok(await isThere());
  assert.equal(await (await fetch(url)).text(), 'well');
  const memory = (await (await fetch(`${proxy.adminUrl}/memory`)).json()) as {
    readonly total_physical_bytes: string;
  };
  const mib = Number(memory.total_physical_bytes) / 2 ** 20;
  assert.ok(mib < 1024, `${mib} MiB`);
  plane.stop();
  await until(
    async () => (await stat(proxy, 'control_plane.connected_state')) === 0,
    'the end of the stream',
  );
  assert.ok(await isThere());
  plane.set(CLUSTER, '2', [{ name: 'first' }, { name: 'second' }]);
  await plane.listen();
  await until(
    async () => (await (await fetch(`${proxy.adminUrl}/clusters`)).text()).includes('second::'),
    'the second cluster',
  );
});
