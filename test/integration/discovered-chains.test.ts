// Network and listener filters by ECDS, and resources of collections: listeners, clusters, endpoints.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { ADMIN_ONLY, address, planeCluster } from './support/bootstraps.js';
import {
  CLUSTER,
  ControlPlane,
  ENDPOINT,
  ENDPOINTS,
  EXTENSION,
  LISTENER,
  ROUTES,
  type Message,
} from './support/control-plane.js';
import { startProxy } from './support/start-proxy.js';
import { until } from './support/waits.js';
import { stat } from './support/stats.js';

const ANY = 'type.googleapis.com/';
const NETWORK = `${ANY}envoy.extensions.filters.network`;
const ANSWER = `${NETWORK}.direct_response.v3.Config`;
const PROXY_PROTOCOL = `${ANY}envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol`;
const HCM = `${NETWORK}.http_connection_manager.v3.HttpConnectionManager`;
const FAULT = `${ANY}envoy.extensions.filters.http.fault.v3.HTTPFault`;
const ROUTER = `${ANY}envoy.extensions.filters.http.router.v3.Router`;
const ADS = { ads: {}, resource_api_version: 'V3' };

const bootstrap = (
  plane: ControlPlane,
  dynamic: Message,
  listeners: readonly Message[],
): object => ({
  ...ADMIN_ONLY,
  node: { id: 'one', cluster: 'many' },
  node_context_params: ['id'],
  dynamic_resources: {
    ads_config: {
      api_type: 'DELTA_GRPC',
      transport_api_version: 'V3',
      grpc_services: [{ envoy_grpc: { cluster_name: 'plane' } }],
    },
    ...dynamic,
  },
  static_resources: {
    listeners,
    clusters: [planeCluster(plane.port)],
  },
});

const answer = (text: string): Message => ({
  name: 'answer',
  typed_config: { '@type': ANSWER, response: { inline_string: text } },
});

const later = (name: string, type: string): Message => ({
  name,
  config_discovery: { config_source: ADS, type_urls: [type] },
});

/** What a client hears that says so much; "" where it is cut off. */
async function hears(url: string, says = ''): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(says);
  let text = '';
  socket.on('data', (piece) => (text += String(piece)));
  await new Promise<void>((resolve) => socket.on('close', () => resolve()));
  return text;
}

test('a network filter comes, changes, is refused and goes; a listener filter stands before it', async (t) => {
  const plane = await ControlPlane.start(t);
  const proxied = { name: 'proxied', typed_config: { '@type': PROXY_PROTOCOL } };
  plane.set(EXTENSION, '1', [answer('one'), proxied]);
  const listener = {
    ...{ name: 'web', address: address(0) },
    listener_filters: [later('proxied', PROXY_PROTOCOL)],
    filter_chains: [{ filters: [later('answer', ANSWER)] }],
  };
  const proxy = await startProxy(t, bootstrap(plane, {}, [listener]));
  const url = await proxy.listenerUrl('web');
  const head = 'PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n';
  assert.equal(await hears(url, head), 'one');
  assert.equal(await hears(url, 'GET / HTTP/1.1\r\n\r\n'), '');
  plane.set(EXTENSION, '2', [answer('two'), proxied]);
  await until(async () => (await hears(url, head)) === 'two', 'the second');
  plane.set(EXTENSION, '3', [{ ...proxied, name: 'answer' }, proxied]);
  await until(async () => plane.refusals.length > 0, 'the refusal');
  assert.match(plane.refusals[0]?.error_detail?.message ?? '', /expect \S+direct_response/);
  assert.equal(await hears(url, head), 'two');
  plane.set(EXTENSION, '4', [answer('two')]);
  await until(async () => (await hears(url, head)) === '', 'its end');
  assert.ok((await stat(proxy, 'extension_config_missing')) > 0);
  plane.set(EXTENSION, '5', [proxied]);
  await until(async () => {
    await hears(url, head);
    return (await stat(proxy, 'network_extension_config_missing')) > 0;
  }, 'the end of both');
  assert.equal(await stat(proxy, 'network_filter.answer.config_reload'), 3);
});

const saying = (text: string): Message => ({
  name: 'table',
  virtual_hosts: [
    {
      ...{ name: 'all', domains: ['*'] },
      routes: [
        {
          match: { prefix: '/' },
          direct_response: { status: 200, body: { inline_string: text } },
        },
      ],
    },
  ],
});

test('a connection manager comes with its routes, its filters and its router', async (t) => {
  const plane = await ControlPlane.start(t);
  const manager = (routes: Message, filters: readonly Message[]): Message => ({
    name: 'manager',
    typed_config: { '@type': HCM, stat_prefix: 'late', ...routes, http_filters: filters },
  });
  const router = { name: 'router', typed_config: { '@type': ROUTER } };
  const own = manager({ route_config: saying('its own') }, [router]);
  const rds = { rds: { route_config_name: 'table', config_source: ADS } };
  const others = manager(rds, [later('fault', FAULT), later('router', ROUTER)]);
  plane.set(ROUTES, '1', [saying('by RDS')]);
  plane.set(EXTENSION, '1', [own]);
  const listener = {
    ...{ name: 'web', address: address(0) },
    filter_chains: [{ filters: [later('manager', HCM)] }],
  };
  const proxy = await startProxy(t, bootstrap(plane, {}, [listener]));
  const url = await proxy.listenerUrl('web');
  const get = async (): Promise<string> => {
    const response = await fetch(url, { headers: { connection: 'close' } });
    return `${response.status} ${await response.text()}`;
  };
  assert.equal(await get(), '200 its own');
  plane.set(EXTENSION, '2', [others, router]);
  // Its filter has not come.
  await until(async () => (await get()).startsWith('500'), 'the filter');
  const abort = { http_status: 418, percentage: { numerator: 100 } };
  const fault = { name: 'fault', typed_config: { '@type': FAULT, abort } };
  plane.set(EXTENSION, '3', [others, router, fault]);
  await until(async () => (await get()).startsWith('418'), 'the fault');
  const idle = { name: 'fault', typed_config: { '@type': FAULT } };
  plane.set(EXTENSION, '4', [others, router, idle]);
  await until(async () => (await get()) === '200 by RDS', 'the routes');
  plane.set(ROUTES, '2', [saying('changed')]);
  await until(async () => (await get()) === '200 changed', 'the change');
  plane.set(EXTENSION, '5', [others, idle]);
  await until(async () => (await get()).startsWith('500'), 'the end of the router');
  plane.set(EXTENSION, '6', [own, idle]);
  await until(async () => (await get()) === '200 its own', 'the first');
  assert.equal(plane.refusals.length, 0);
});

test('a listener that comes waits for its filters', async (t) => {
  const plane = await ControlPlane.start(t);
  plane.set(LISTENER, '1', []);
  const proxy = await startProxy(t, bootstrap(plane, { lds_config: ADS }, []));
  plane.set(LISTENER, '2', [
    {
      ...{ name: 'web', address: address(0) },
      filter_chains: [{ filters: [later('answer', ANSWER)] }],
    },
  ]);
  await until(async () => plane.requests.some(({ type }) => type === EXTENSION), 'the question');
  const page = async (): Promise<string> => (await fetch(`${proxy.adminUrl}/listeners`)).text();
  assert.doesNotMatch(await page(), /web::/);
  plane.set(EXTENSION, '1', [answer('one')]);
  await until(async () => (await page()).includes('web::'), 'the listener');
  assert.equal(await hears(await proxy.listenerUrl('web')), 'one');
  assert.equal(await stat(proxy, 'network_extension_config_missing'), 0);
});

async function startOrigin(t: TestContext, text: string): Promise<number> {
  const origin = createServer((socket) => socket.on('error', () => undefined).end(text));
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => origin.close());
  return (origin.address() as AddressInfo).port;
}

test('listeners, clusters and the endpoints of a locality come as collections', async (t) => {
  const [one, two] = [await startOrigin(t, 'one'), await startOrigin(t, 'two')];
  const plane = await ControlPlane.start(t);
  const context = '?xds.node.id=one';
  const at = (type: string, id: string): string => `xdstp://plane/${type}/web/${id}${context}`;
  const nameOf = ({ name }: Message): string => String(name);
  const listener = (id: string): Message => ({
    name: at(LISTENER, id),
    address: address(0),
    filter_chains: [
      {
        filters: [
          {
            name: 'tcp',
            typed_config: {
              '@type': `${NETWORK}.tcp_proxy.v3.TcpProxy`,
              stat_prefix: 'tcp',
              cluster: at(CLUSTER, 'origin'),
            },
          },
        ],
      },
    ],
  });
  plane.set(LISTENER, '1', [listener('a'), listener('b')], { nameOf });
  plane.set(CLUSTER, '1', [
    {
      name: at(CLUSTER, 'origin'),
      type: 'EDS',
      eds_cluster_config: { eds_config: ADS, service_name: 'origin' },
    },
  ]);
  const leds = {
    leds_config: ADS,
    leds_collection_name: `xdstp://plane/${ENDPOINT}/web/*`,
  };
  plane.set(ENDPOINTS, '1', [
    { cluster_name: 'origin', endpoints: [{ leds_cluster_locality_config: leds }] },
  ]);
  const endpoint = (id: string, port: number): Message => ({
    endpoint: { address: address(port), hostname: id },
  });
  const setEndpoints = (version: string, all: readonly Message[]): readonly string[] =>
    plane.set(ENDPOINT, version, all, {
      nameOf: (message) =>
        at(ENDPOINT, (message['endpoint'] as { readonly hostname: string }).hostname),
    });
  setEndpoints('1', [endpoint('a', one)]);
  const proxy = await startProxy(
    t,
    bootstrap(
      plane,
      {
        lds_config: ADS,
        lds_resources_locator: `xdstp://plane/${LISTENER}/web/*`,
        cds_config: ADS,
        cds_resources_locator: `xdstp://plane/${CLUSTER}/web/*`,
      },
      [],
    ),
  );
  const urls = [
    await proxy.listenerUrl(at(LISTENER, 'a')),
    await proxy.listenerUrl(at(LISTENER, 'b')),
  ];
  for (const url of urls) assert.equal(await hears(url), 'one');
  setEndpoints('2', [endpoint('a', two)]);
  await until(async () => (await hears(urls[0] ?? '')) === 'two', 'the other');
  plane.set(LISTENER, '2', [listener('b')], { nameOf });
  await until(async () => {
    const page = await (await fetch(`${proxy.adminUrl}/listeners`)).text();
    return !page.includes(at(LISTENER, 'a')) && page.includes(at(LISTENER, 'b'));
  }, 'its end');
  assert.equal(await hears(urls[1] ?? ''), 'two');
  assert.deepEqual(plane.refusals, []);
  assert.equal(await stat(proxy, 'leds.update_success'), 2);
  plane.set(ENDPOINTS, '2', [
    {
      cluster_name: 'origin',
      endpoints: [{ lb_endpoints: [{ endpoint: { address: address(one) } }] }],
    },
  ]);
  await until(async () => (await hears(urls[1] ?? '')) === 'one', 'hosts without LEDS');
  const names = await (await fetch(`${proxy.adminUrl}/stats?filter=leds`)).text();
  assert.equal(names, '');
  const asked = plane.requests.flatMap(({ resource_names_subscribe: names }) => names);
  assert.ok(asked.includes(at(LISTENER, '*')) && asked.includes(at(ENDPOINT, '*')));
});

for (const type of ['AGGREGATED_GRPC', 'AGGREGATED_DELTA_GRPC']) {
  test(`hosts and routes come from whoever knows the authority of their names: ${type}`, async (t) => {
    const port = await startOrigin(t, 'the origin');
    const plane = await ControlPlane.start(t);
    const at = (kind: string): string => `xdstp://plane/${kind}/web`;
    plane.set(ENDPOINTS, '1', [
      {
        cluster_name: at(ENDPOINTS),
        endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }],
      },
    ]);
    plane.set(ROUTES, '1', [{ ...saying('by name'), name: at(ROUTES) }]);
    const elsewhere = { path_config_source: { path: '/dev/null' } };
    const manager = {
      ...{ '@type': HCM, stat_prefix: 'web' },
      http_filters: [{ name: 'router', typed_config: { '@type': ROUTER } }],
      rds: { route_config_name: at(ROUTES), config_source: elsewhere },
    };
    const tcp = {
      '@type': `${NETWORK}.tcp_proxy.v3.TcpProxy`,
      ...{ stat_prefix: 'tcp', cluster: 'web' },
    };
    const listener = (name: string, typed_config: Message): Message => ({
      ...{ name, address: address(0) },
      filter_chains: [{ filters: [{ name: 'filter', typed_config }] }],
    });
    const base = bootstrap(plane, {}, [listener('tcp', tcp), listener('http', manager)]) as {
      readonly static_resources: { readonly clusters: readonly Message[] };
    };
    const eds = {
      ...{ name: 'web', type: 'EDS' },
      eds_cluster_config: { service_name: at(ENDPOINTS) },
    };
    const FEATURE = 'envoy.reloadable_features.xdstp_based_config_singleton_subscriptions';
    const proxy = await startProxy(t, {
      ...base,
      dynamic_resources: {},
      layered_runtime: { layers: [{ name: 'on', static_layer: { [FEATURE]: true } }] },
      config_sources: [
        {
          authorities: [{ name: 'plane' }],
          api_config_source: {
            ...{ api_type: type, transport_api_version: 'V3' },
            grpc_services: [{ envoy_grpc: { cluster_name: 'plane' } }],
          },
        },
      ],
      static_resources: {
        ...base.static_resources,
        clusters: [...base.static_resources.clusters, eds],
      },
    });
    assert.equal(await hears(await proxy.listenerUrl('tcp')), 'the origin');
    assert.equal(await (await fetch(await proxy.listenerUrl('http'))).text(), 'by name');
  });
}
