// Everything from a control plane: by each of the ways that there are, and what becomes of its mistakes,
// its restarts and its silence. The real server passes these stories, too (FAIRLEAD_TEST_COMMAND).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_ONLY, address, cluster, planeCluster } from './support/bootstraps.js';
import {
  CLUSTER,
  ControlPlane,
  ENDPOINTS,
  LISTENER,
  ROUTES,
  RUNTIME,
  SECRET,
  type Message,
} from './support/control-plane.js';
import { SERVER_CERTIFICATE, SERVER_KEY } from './support/certificates.js';
import { startOrigin } from './support/origin.js';
import { startProxy } from './support/start-proxy.js';
import { until } from './support/waits.js';
import { statText } from './support/stats.js';

const HCM = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const ROUTER = 'envoy.extensions.filters.http.router.v3.Router';
const ANY = 'type.googleapis.com/';

const WAYS = ['ads', 'delta-ads', 'xds', 'delta', 'rest'] as const;
type Way = (typeof WAYS)[number];

const stream = (isDelta: boolean): Message => ({
  api_type: isDelta ? 'DELTA_GRPC' : 'GRPC',
  transport_api_version: 'V3',
  grpc_services: [
    {
      envoy_grpc: {
        cluster_name: 'plane',
        retry_policy: { retry_back_off: { base_interval: { nanos: 20_000_000 } } },
      },
    },
  ],
  set_node_on_first_message_only: true,
});

/** As protobuf has it, and as JSON does. */
function source(way: Way): Message {
  if (way === 'ads' || way === 'delta-ads') return { ads: {}, resource_api_version: 'V3' };
  const api =
    way === 'rest'
      ? {
          api_type: 'REST',
          transport_api_version: 'V3',
          cluster_names: ['plane'],
          refresh_delay: '0.05s',
        }
      : stream(way === 'delta');
  return { api_config_source: api, resource_api_version: 'V3' };
}

/** In a bootstrap durations are texts. */
const asText = (message: Message): Message =>
  JSON.parse(JSON.stringify(message).replaceAll('{"nanos":20000000}', '"0.02s"')) as Message;

function bootstrap(way: Way, plane: ControlPlane): object {
  const isRest = way === 'rest';
  return {
    ...ADMIN_ONLY,
    node: { id: 'one', cluster: 'many' },
    dynamic_resources: {
      ...(way.endsWith('ads') && { ads_config: asText(stream(way === 'delta-ads')) }),
      cds_config: asText(source(way)),
      lds_config: asText(source(way)),
    },
    layered_runtime: {
      layers: [{ name: 'far', rtds_layer: { name: 'far', rtds_config: asText(source(way)) } }],
    },
    static_resources: {
      clusters: [isRest ? cluster('plane', plane.restPort) : planeCluster(plane.port)],
    },
  };
}

const edsCluster = (way: Way, name: string): Message => ({
  name,
  type: 'EDS',
  eds_cluster_config: { service_name: `${name}-hosts`, eds_config: source(way) },
});
const hosts = (cluster: string, ...ports: readonly number[]): Message => ({
  cluster_name: `${cluster}-hosts`,
  endpoints: [{ lb_endpoints: ports.map((port) => ({ endpoint: { address: address(port) } })) }],
});
const routes = (name: string, cluster: string): Message => ({
  name,
  virtual_hosts: [
    { name, domains: ['*'], routes: [{ match: { prefix: '/' }, route: { cluster } }] },
  ],
});
const listener = (way: Way, name: string, statPrefix = name): Message => ({
  name,
  address: address(0),
  filter_chains: [
    {
      filters: [
        {
          name: 'web',
          typed_config: {
            '@type': ANY + HCM,
            stat_prefix: statPrefix,
            rds: { route_config_name: `${name}-routes`, config_source: source(way) },
            http_filters: [{ name: 'router', typed_config: { '@type': ANY + ROUTER } }],
          },
        },
      ],
    },
  ],
});

/** In JSON it is a mapping, in protobuf a message. */
const struct = (way: Way, key: string, value: number): Message =>
  way === 'rest' ? { [key]: value } : { fields: { [key]: { numberValue: value } } };

async function saysSoon(url: string, text: string): Promise<void> {
  await until(async () => (await (await fetch(url)).text()) === text, `${url} says ${text}`);
}

for (const way of WAYS) {
  test(`all of a configuration comes by ${way}, changes, and stays as it was where it is wrong`, async (t) => {
    const ports = [await startOrigin(t, 'one'), await startOrigin(t, 'two')] as const;
    const plane = await ControlPlane.start(t);
    plane.set(CLUSTER, 'c1', [edsCluster(way, 'a'), edsCluster(way, 'b')]);
    plane.set(ENDPOINTS, 'e1', [hosts('a', ports[0]), hosts('b', ports[1])]);
    plane.set(LISTENER, 'l1', [listener(way, 'web')]);
    plane.set(ROUTES, 'r1', [routes('web-routes', 'a')]);
    plane.set(RUNTIME, 't1', [{ name: 'far', layer: struct(way, 'some_key', 7) }]);
    const proxy = await startProxy(t, bootstrap(way, plane), '--concurrency', '1');
    const url = await proxy.listenerUrl('web');

    // LIVE means that all of it is there.
    assert.equal(await (await fetch(url)).text(), 'one');
    assert.equal(await statText(proxy, 'cluster_manager.cds.version_text'), '"c1"');
    assert.equal(await statText(proxy, 'listener_manager.lds.version_text'), '"l1"');
    assert.match(await (await fetch(`${proxy.adminUrl}/runtime`)).text(), /"some_key"[^}]*"7"/s);
    assert.equal(plane.refusals.length, 0);
    if (way.endsWith('ads')) {
      // Hosts are asked for before their clusters are answered for.
      const asked = plane.requests.findIndex(({ type }) => type === ENDPOINTS);
      const answered = plane.requests.findIndex(
        ({ type, response_nonce: nonce }) => type === CLUSTER && nonce !== '',
      );
      assert.ok(asked < answered, `${asked} < ${answered}`);
    }

    plane.set(ENDPOINTS, 'e2', [hosts('a', ports[1]), hosts('b', ports[1])]);
    await saysSoon(url, 'two');
    plane.set(ENDPOINTS, 'e3', [hosts('a', ports[1]), hosts('b', ports[0])]);
    plane.set(ROUTES, 'r2', [routes('web-routes', 'b')]);
    await saysSoon(url, 'one');

    // An update that is wrong is refused, and what was there goes on.
    plane.set(CLUSTER, 'bad', [
      edsCluster(way, 'a'),
      edsCluster(way, 'b'),
      { name: 'broken', type: 'EDS' },
    ]);
    await until(
      async () => Number(await statText(proxy, 'cluster_manager.cds.update_rejected')) > 0,
      'the refusal',
    );
    if (way !== 'rest') {
      await until(() => plane.refusals.length > 0, 'the refusal is told');
      const [refusal] = plane.refusals;
      assert.equal(refusal?.type, CLUSTER);
      assert.equal(refusal?.error_detail?.code, 13);
      assert.match(
        refusal?.error_detail?.message ?? '',
        /cannot create an EDS cluster without an EDS config/,
      );
    }
    assert.equal(await statText(proxy, 'cluster_manager.cds.version_text'), '"c1"');
    assert.equal(await (await fetch(url)).text(), 'one');

    // A cluster goes, and another comes.
    plane.set(CLUSTER, 'c2', [edsCluster(way, 'b'), edsCluster(way, 'c')]);
    plane.set(ENDPOINTS, 'e4', [hosts('b', ports[0]), hosts('c', ports[1])]);
    await until(
      async () => (await statText(proxy, 'cluster_manager.cds.version_text')) === '"c2"',
      'c2',
    );
    // Its hosts come after it: requests of before would find none.
    await until(async () => (await statText(proxy, 'cluster.c.membership_total')) === '1', 'c');
    plane.set(ROUTES, 'r3', [routes('web-routes', 'c')]);
    await saysSoon(url, 'two');
    assert.equal(await statText(proxy, 'cluster.a.membership_total'), undefined);

    // One that changes keeps its hosts.
    plane.set(CLUSTER, 'c3', [
      edsCluster(way, 'b'),
      { ...edsCluster(way, 'c'), lb_policy: 'RANDOM' },
    ]);
    await until(
      async () => (await statText(proxy, 'cluster_manager.cds.version_text')) === '"c3"',
      'c3',
    );
    assert.equal(await (await fetch(url)).text(), 'two');
    assert.equal(await statText(proxy, 'http.web.downstream_rq_5xx'), '0');
  });
}

// Over REST a name of which nothing is known is answered at once.
for (const way of WAYS.filter((one) => one !== 'rest')) {
  test(`hosts of a cluster move until those of its new name have come, by ${way}`, async (t) => {
    const ports = [
      await startOrigin(t, 'one'),
      await startOrigin(t, 'two'),
      await startOrigin(t, 'three'),
    ] as const;
    const plane = await ControlPlane.start(t);
    plane.set(CLUSTER, 'c1', [edsCluster(way, 'a')]);
    plane.set(ENDPOINTS, 'e1', [hosts('a', ports[0])]);
    plane.set(LISTENER, 'l1', [listener(way, 'web')]);
    plane.set(ROUTES, 'r1', [routes('web-routes', 'a')]);
    plane.set(RUNTIME, 't1', [{ name: 'far', layer: struct(way, 'some_key', 7) }]);
    const proxy = await startProxy(t, bootstrap(way, plane), '--concurrency', '1');
    const url = await proxy.listenerUrl('web');
    assert.equal(await (await fetch(url)).text(), 'one');

    const renamed = { service_name: 'later-hosts', eds_config: source(way) };
    plane.set(CLUSTER, 'c2', [{ ...edsCluster(way, 'a'), eds_cluster_config: renamed }]);
    await until(async () => (await statText(proxy, 'cluster.a.warming_state')) === '1', 'c2');
    plane.set(ENDPOINTS, 'e2', [hosts('a', ports[1])]);
    await saysSoon(url, 'two');
    assert.equal(await statText(proxy, 'cluster.a.warming_state'), '1');

    // What one response says of both is the new one's.
    plane.set(ENDPOINTS, 'e3', [hosts('later', ports[2]), hosts('a', ports[0])]);
    await saysSoon(url, 'three');
    await until(async () => (await statText(proxy, 'cluster.a.warming_state')) === '0', 'warm');
    plane.set(ENDPOINTS, 'e4', [hosts('a', ports[1]), hosts('later', ports[2])]);
    await sleep(200);
    assert.equal(await (await fetch(url)).text(), 'three');
    assert.equal(await statText(proxy, 'cluster.a.membership_total'), '1');
    assert.equal(await statText(proxy, 'http.web.downstream_rq_5xx'), '0');
  });
}

for (const way of ['ads', 'delta-ads'] as const) {
  test(`what a control plane said last is served while it is away, by ${way}`, async (t) => {
    const port = await startOrigin(t, 'here');
    const plane = await ControlPlane.start(t);
    plane.set(CLUSTER, 'c1', [edsCluster(way, 'a')]);
    plane.set(ENDPOINTS, 'e1', [hosts('a', port)]);
    plane.set(LISTENER, 'l1', [listener(way, 'web')]);
    plane.set(ROUTES, 'r1', [routes('web-routes', 'a')]);
    plane.set(RUNTIME, 't1', [{ name: 'far', layer: {} }]);
    const proxy = await startProxy(t, bootstrap(way, plane), '--concurrency', '1');
    const url = await proxy.listenerUrl('web');
    assert.equal(await statText(proxy, 'control_plane.connected_state'), '1');
    assert.equal(await statText(proxy, 'control_plane.identifier'), '"small"');

    plane.stop();
    await until(
      async () => Number(await statText(proxy, 'cluster_manager.cds.update_failure')) > 0,
      'the end is noticed',
    );
    assert.equal(await (await fetch(url)).text(), 'here');
    assert.equal(await statText(proxy, 'cluster_manager.cds.version_text'), '"c1"');

    const asked = plane.requests.length;
    await plane.listen();
    const other = await startOrigin(t, 'there');
    plane.set(ENDPOINTS, 'e2', [hosts('a', other)]);
    await saysSoon(url, 'there');
    // It says what it has, and who it is, once.
    const again = plane.requests.slice(asked);
    const first = again.find(({ type }) => type === CLUSTER);
    assert.equal(again.filter(({ node }) => node?.id === 'one').length, 1);
    const types = [...new Set(again.map(({ type }) => type))];
    assert.deepEqual(types, [RUNTIME, CLUSTER, ENDPOINTS, LISTENER, ROUTES]);
    if (way === 'ads') assert.equal(first?.version_info, 'c1');
    else assert.deepEqual(Object.keys(first?.initial_resource_versions ?? {}), ['a']);
  });
}

for (const way of ['ads', 'delta-ads'] as const) {
  test(`a cluster that changes while it waits for its hosts goes on waiting, by ${way}`, async (t) => {
    const port = await startOrigin(t, 'here');
    const plane = await ControlPlane.start(t);
    plane.set(CLUSTER, 'c1', [edsCluster(way, 'a')]);
    plane.set(ENDPOINTS, 'e1', [hosts('a', port)]);
    plane.set(LISTENER, 'l1', []);
    plane.set(RUNTIME, 't1', [{ name: 'far', layer: {} }]);
    const proxy = await startProxy(t, bootstrap(way, plane), '--concurrency', '1');
    const states = async (): Promise<readonly (string | undefined)[]> => [
      await statText(proxy, 'cluster_manager.warming_clusters'),
      await statText(proxy, 'cluster_manager.active_clusters'),
    ];
    const [, before] = await states();

    plane.set(CLUSTER, 'c2', [edsCluster(way, 'a'), edsCluster(way, 'b')]);
    await until(async () => (await states())[0] === '1', 'it is asked for');
    const changed = { ...edsCluster(way, 'b'), connect_timeout: { seconds: 3 } };
    plane.set(CLUSTER, 'c3', [edsCluster(way, 'a'), changed]);
    await until(
      async () => (await statText(proxy, 'cluster_manager.cds.version_text')) === '"c3"',
      'it has changed',
    );
    assert.deepEqual(await states(), ['1', before]);

    plane.set(ENDPOINTS, 'e2', [hosts('a', port), hosts('b', port)]);
    await until(async () => (await states())[0] === '0', 'it is there');
    assert.deepEqual(await states(), ['0', String(Number(before) + 1)]);
  });
}

for (const way of ['ads', 'delta'] as const) {
  test(`a listener is put in place when its routes have come, by ${way}`, async (t) => {
    const plane = await ControlPlane.start(t);
    const port = await startOrigin(t, 'here');
    plane.set(CLUSTER, 'c1', [edsCluster(way, 'a')]);
    plane.set(ENDPOINTS, 'e1', [hosts('a', port)]);
    plane.set(LISTENER, 'l1', [listener(way, 'web')]);
    plane.set(ROUTES, 'r1', [routes('web-routes', 'a')]);
    plane.set(RUNTIME, 't1', [{ name: 'far', layer: {} }]);
    const proxy = await startProxy(t, bootstrap(way, plane), '--concurrency', '1');

    plane.set(LISTENER, 'l2', [listener(way, 'web'), listener(way, 'late')]);
    const states = async (): Promise<string> =>
      (await fetch(`${proxy.adminUrl}/config_dump?resource=dynamic_listeners`)).text();
    await until(async () => (await states()).includes('warming_state'), 'it waits');
    assert.match(await states(), /"name": "late",\s*"warming_state"/);
    assert.doesNotMatch(await (await fetch(`${proxy.adminUrl}/listeners`)).text(), /late/);
    plane.set(ROUTES, 'r2', [routes('web-routes', 'a'), routes('late-routes', 'a')]);
    await until(async () => !(await states()).includes('warming_state'), 'it is there');
    assert.equal(await (await fetch(await proxy.listenerUrl('late'))).text(), 'here');
  });
}

test('the certificate of a listener comes by a control plane, and the start waits for it', async (t) => {
  const plane = await ControlPlane.start(t);
  const port = await startOrigin(t, 'here');
  const TLS = 'envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext';
  const web = listener('ads', 'web') as { readonly filter_chains: readonly Message[] };
  const transport_socket = {
    name: 'tls',
    typed_config: {
      '@type': ANY + TLS,
      common_tls_context: {
        tls_certificate_sds_secret_configs: [{ name: 'own', sds_config: source('ads') }],
      },
    },
  };
  plane.set(CLUSTER, 'c1', [edsCluster('ads', 'a')]);
  plane.set(ENDPOINTS, 'e1', [hosts('a', port)]);
  plane.set(LISTENER, 'l1', [
    { ...web, filter_chains: [{ ...web.filter_chains[0], transport_socket }] },
  ]);
  plane.set(ROUTES, 'r1', [routes('web-routes', 'a')]);
  plane.set(RUNTIME, 't1', [{ name: 'far', layer: {} }]);
  plane.set(SECRET, 's1', [
    {
      name: 'own',
      tls_certificate: {
        certificate_chain: { inline_string: SERVER_CERTIFICATE },
        private_key: { inline_string: SERVER_KEY },
      },
    },
  ]);
  const proxy = await startProxy(t, bootstrap('ads', plane), '--concurrency', '1');
  const { port: listening } = new URL(await proxy.listenerUrl('web'));
  const socket = connect({ port: Number(listening), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  assert.match(SERVER_CERTIFICATE, /BEGIN CERTIFICATE/);
  const own = SERVER_CERTIFICATE.replaceAll(/-----[^-]+-----|\s/g, '');
  assert.equal(socket.getPeerCertificate().raw.toString('base64'), own);
  socket.destroy();
  assert.equal(await statText(proxy, 'sds.own.update_success'), '1');
});

test('a listener without a name stays when others change, where only what changes is told', async (t) => {
  const plane = await ControlPlane.start(t);
  const said = (text: string): Message => ({
    filters: [
      {
        name: 'said',
        typed_config: {
          '@type': `${ANY}envoy.extensions.filters.network.direct_response.v3.Config`,
          response: { inline_string: text },
        },
      },
    ],
  });
  const unnamed = { address: address(0), filter_chains: [said('unnamed')] };
  const named = (name: string): Message => ({
    ...{ name, address: address(0), filter_chains: [said(name)] },
  });
  plane.set(CLUSTER, 'c1', []);
  plane.set(RUNTIME, 't1', [{ name: 'far', layer: {} }]);
  plane.set(LISTENER, 'l1', [unnamed, named('one')]);
  const proxy = await startProxy(t, bootstrap('delta-ads', plane), '--concurrency', '1');
  const page = async (path: string): Promise<string> => (await fetch(proxy.adminUrl + path)).text();
  const names = async (): Promise<readonly string[]> => {
    const text = await page('/listeners');
    return text.split('\n').map((line) => line.split('::')[0] ?? '');
  };
  const [given = '', one] = await names();
  assert.match(given, /^[0-9a-f]{8}-/);
  assert.equal(one, 'one');
  plane.set(LISTENER, 'l2', [unnamed, named('one'), named('two')]);
  await until(async () => (await names()).includes('two'), 'another one');
  assert.deepEqual(await names(), [given, 'one', 'two', '']);
  assert.equal(await statText(proxy, 'listener_manager.listener_added'), '3');
  assert.ok((await page('/config_dump?resource=dynamic_listeners')).includes(given));
});
