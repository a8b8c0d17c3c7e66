// What control planes send of filters, scopes, virtual hosts and clusters that requests ask for, and
// resources that stay only for a while.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { ADMIN_ONLY, address, planeCluster } from './support/bootstraps.js';
import {
  CLUSTER,
  ControlPlane,
  EXTENSION,
  LISTENER,
  ROUTES,
  SCOPE,
  VIRTUAL_HOST,
  type Message,
} from './support/control-plane.js';
import { startProxy, type StartedProxy } from './support/start-proxy.js';
import { until } from './support/waits.js';
import { stat } from './support/stats.js';

const ANY = 'type.googleapis.com/';
const HTTP = 'envoy.extensions.filters.http';
const HCM = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const ADS = { ads: {}, resource_api_version: 'V3' };
const ROUTER = { name: 'router', typed_config: { '@type': `${ANY}${HTTP}.router.v3.Router` } };

function bootstrap(plane: ControlPlane, manager: Message, isDelta: boolean): object {
  return {
    ...ADMIN_ONLY,
    node: { id: 'one', cluster: 'many' },
    dynamic_resources: {
      ads_config: {
        api_type: isDelta ? 'DELTA_GRPC' : 'GRPC',
        transport_api_version: 'V3',
        grpc_services: [{ envoy_grpc: { cluster_name: 'plane' } }],
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
                  typed_config: { '@type': ANY + HCM, stat_prefix: 'web', ...manager },
                },
              ],
            },
          ],
        },
      ],
      clusters: [planeCluster(plane.port)],
    },
  };
}

const says = (name: string, text: string, domain = '*'): Message => ({
  name,
  domains: [domain],
  routes: [
    { match: { prefix: '/' }, direct_response: { status: 200, body: { inline_string: text } } },
  ],
});

async function start(
  t: TestContext,
  plane: ControlPlane,
  manager: Message,
  isDelta = true,
): Promise<{
  readonly proxy: StartedProxy;
  readonly get: (host: string, headers?: Message) => Promise<string>;
}> {
  plane.set(LISTENER, '1', []);
  plane.set(CLUSTER, '1', []);
  const proxy = await startProxy(t, bootstrap(plane, manager, isDelta));
  const url = await proxy.listenerUrl('web');
  const get = async (host: string, headers: Message = {}): Promise<string> => {
    const { request } = await import('node:http');
    const sent = request(url, { headers: { host, ...headers } as Record<string, string> });
    sent.end();
    const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
    response.setEncoding('utf8');
    let text = '';
    for await (const piece of response) text += String(piece);
    return `${response.statusCode} ${text}`;
  };
  return { proxy, get };
}

const fault = (status: number): Message => ({
  name: 'faults',
  typed_config: {
    '@type': `${ANY}${HTTP}.fault.v3.HTTPFault`,
    abort: { http_status: status, percentage: { numerator: 100 } },
  },
});

for (const isDelta of [false, true]) {
  test(`a filter comes, changes and goes by ${isDelta ? 'incremental' : 'plain'} ADS`, async (t) => {
    const plane = await ControlPlane.start(t);
    plane.set(EXTENSION, '1', [fault(418)]);
    const { proxy, get } = await start(
      t,
      plane,
      {
        route_config: { virtual_hosts: [says('all', 'past it')] },
        http_filters: [
          {
            name: 'faults',
            config_discovery: {
              config_source: ADS,
              type_urls: [`${ANY}${HTTP}.fault.v3.HTTPFault`],
            },
          },
          ROUTER,
        ],
      },
      isDelta,
    );
    assert.equal(await get('a.test'), '418 fault filter abort');
    plane.set(EXTENSION, '2', [fault(503)]);
    await until(async () => (await get('a.test')) === '503 fault filter abort', 'the second');
    plane.set(EXTENSION, '3', [
      { ...fault(503), typed_config: fault(99)['typed_config'] as Message },
    ]);
    await until(async () => plane.refusals.length > 0, 'the refusal');
    assert.match(plane.refusals[0]?.error_detail?.message ?? '', /http_status/);
    assert.equal(await get('a.test'), '503 fault filter abort');
    const prefix = 'extension_config_discovery.http_filter.faults.';
    assert.equal(await stat(proxy, `${prefix}config_reload`), 2);
    assert.equal(await stat(proxy, `${prefix}config_fail`), 1);
    if (!isDelta) return;
    plane.set(EXTENSION, '4', []);
    await until(async () => (await get('a.test')) === '500 ', 'its end');
  });
}

/** As ADS, where nothing comes before it is asked for. */
const SOON = { ...ADS, initial_fetch_timeout: { nanos: 100_000_000 } };

test('a virtual host is asked for when a request wants it', async (t) => {
  const plane = await ControlPlane.start(t);
  plane.set(ROUTES, '1', [
    {
      name: 'table',
      virtual_hosts: [says('own', 'own', 'own.test')],
      vhds: { config_source: SOON },
    },
  ]);
  const nameOf = ({ name }: Message): string => `table/${String(name)}`;
  plane.set(VIRTUAL_HOST, '1', [says('a.test', 'asked for', 'a.test')], {
    ...{ nameOf, isOnDemand: true },
  });
  const { get } = await start(t, plane, {
    rds: { route_config_name: 'table', config_source: ADS },
    http_filters: [
      { name: 'on', typed_config: { '@type': `${ANY}${HTTP}.on_demand.v3.OnDemand` } },
      ROUTER,
    ],
  });
  assert.equal(await get('own.test'), '200 own');
  const both = await Promise.all([get('a.test'), get('A.test'), get('nobody.test')]);
  assert.deepEqual(both, ['200 asked for', '200 asked for', '404 ']);
  assert.equal(await get('a.test'), '200 asked for');
  const asked = plane.requests.flatMap(({ type, resource_names_subscribe: names }) =>
    type === VIRTUAL_HOST ? names : [],
  );
  assert.deepEqual(new Set(asked), new Set(['table/a.test', 'table/nobody.test']));
});

test('a virtual host that is not there is asked for once', async (t) => {
  const plane = await ControlPlane.start(t);
  plane.set(ROUTES, '1', [{ name: 'table', virtual_hosts: [], vhds: { config_source: SOON } }]);
  plane.set(VIRTUAL_HOST, '1', [], { isOnDemand: true });
  const { proxy, get } = await start(t, plane, {
    rds: { route_config_name: 'table', config_source: ADS },
    http_filters: [
      { name: 'on', typed_config: { '@type': `${ANY}${HTTP}.on_demand.v3.OnDemand` } },
      ROUTER,
    ],
  });
  // That there is none yet is an answer, but the start has waited for one.
  assert.equal(await stat(proxy, 'http.web.rds.vhds.table.init_fetch_timeout'), 1);
  assert.equal(await stat(proxy, 'http.web.rds.table.config_reload'), 1);
  for (const host of ['a.test', 'a.test', 'b.test', 'a.test']) {
    assert.equal(await get(host), '404 ');
  }
  const asked = (): readonly string[] =>
    plane.requests.flatMap(({ type, resource_names_subscribe: names }) =>
      type === VIRTUAL_HOST ? names : [],
    );
  assert.deepEqual(asked(), ['table/a.test', 'table/b.test']);
  // It comes by itself later.
  plane.set(VIRTUAL_HOST, '2', [says('table/a.test', 'there now', 'a.test')]);
  await until(async () => (await get('a.test')) === '200 there now', 'the virtual host');
  assert.deepEqual(asked(), ['table/a.test', 'table/b.test']);
  // Whoever has no virtual hosts to come any more says that.
  plane.set(ROUTES, '2', [{ name: 'table', virtual_hosts: [says('own', 'own')] }]);
  await until(async () => (await get('a.test')) === '200 own', 'its own');
  const left = plane.requests.flatMap(({ type, resource_names_unsubscribe: names }) =>
    type === VIRTUAL_HOST ? names : [],
  );
  assert.deepEqual(left, ['table/a.test', 'table/b.test']);
});

test("virtual hosts come by VHDS beside those of a listener's own routes", async (t) => {
  const plane = await ControlPlane.start(t);
  const nameOf = ({ name }: Message): string => `table/${String(name)}`;
  plane.set(VIRTUAL_HOST, '1', [says('a', 'first', 'a.test')], { nameOf });
  const { proxy, get } = await start(t, plane, {
    route_config: {
      name: 'table',
      virtual_hosts: [says('own', 'own', 'own.test')],
      vhds: { config_source: ADS },
    },
    http_filters: [ROUTER],
  });
  assert.equal(await get('own.test'), '200 own');
  assert.equal(await get('a.test'), '200 first');
  plane.set(VIRTUAL_HOST, '2', [says('b', 'second', 'b.test')], { nameOf });
  await until(async () => (await get('b.test')) === '200 second', 'the second');
  assert.equal(await get('a.test'), '404 ');
  // A domain of the listener's own.
  plane.set(VIRTUAL_HOST, '3', [says('own', 'other', 'own.test')], { nameOf });
  await until(async () => plane.refusals.length > 0, 'the refusal');
  assert.equal(await get('own.test'), '200 own');
  assert.equal(await get('b.test'), '200 second');
  assert.equal(await stat(proxy, 'vhds.table.config_reload'), 2);
  assert.equal(await stat(proxy, 'vhds.table.update_rejected'), 1);
  const dump = await (await fetch(`${proxy.adminUrl}/config_dump`)).text();
  const { configs } = JSON.parse(dump) as {
    configs: { static_route_configs?: { route_config: { virtual_hosts: { name: string }[] } }[] }[];
  };
  const [routes] = configs.flatMap(({ static_route_configs: all = [] }) => all);
  const names = routes?.route_config.virtual_hosts.map(({ name }) => name);
  assert.deepEqual(names, ['own', 'b']);
});

for (const isDelta of [false, true]) {
  const how = isDelta ? 'incremental' : 'state of the world';
  test(`a cluster is asked for beside all those of CDS, on one stream (${how})`, async (t) => {
    const plane = await ControlPlane.start(t);
    const odcds = { timeout: '5s', source: ADS };
    const on = { '@type': `${ANY}${HTTP}.on_demand.v3.OnDemand`, odcds };
    const route = { cluster_header: 'x-cluster' };
    const { proxy, get } = await start(
      t,
      plane,
      {
        route_config: {
          virtual_hosts: [
            { name: 'all', domains: ['*'], routes: [{ match: { prefix: '/' }, route }] },
          ],
        },
        http_filters: [{ name: 'on', typed_config: on }, ROUTER],
      },
      isDelta,
    );
    plane.set(CLUSTER, '2', [{ name: 'base' }, { name: 'there' }], { isOnDemand: true });
    assert.ok(Number.isNaN(await stat(proxy, 'cluster_manager.odcds.update_attempt')));
    // It is there, and has no hosts.
    assert.equal(await get('a.test', { 'x-cluster': 'there' }), '503 no healthy upstream');
    assert.equal(await get('a.test', { 'x-cluster': 'there' }), '503 no healthy upstream');
  });
}

test('a cluster is asked for when a request names it', async (t) => {
  const origin = createServer((_, response) => response.end('the origin'));
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => origin.close());
  t.after(() => origin.closeAllConnections());
  const plane = await ControlPlane.start(t);
  const { proxy, get } = await start(t, plane, {
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster_header: 'x-cluster' } }],
        },
      ],
    },
    http_filters: [
      {
        name: 'on',
        typed_config: {
          '@type': `${ANY}${HTTP}.on_demand.v3.OnDemand`,
          odcds: {
            timeout: '0.5s',
            source: {
              resource_api_version: 'V3',
              api_config_source: {
                api_type: 'DELTA_GRPC',
                transport_api_version: 'V3',
                grpc_services: [{ envoy_grpc: { cluster_name: 'plane' } }],
              },
            },
          },
        },
      },
      ROUTER,
    ],
  });
  const there = {
    name: 'there',
    load_assignment: {
      cluster_name: 'there',
      endpoints: [
        {
          lb_endpoints: [
            { endpoint: { address: address((origin.address() as AddressInfo).port) } },
          ],
        },
      ],
    },
  };
  plane.set(CLUSTER, '2', [there], { isOnDemand: true });
  assert.equal(await get('a.test', { 'x-cluster': 'there' }), '200 the origin');
  assert.equal(await get('a.test', { 'x-cluster': 'there' }), '200 the origin');
  assert.equal(await get('a.test', { 'x-cluster': 'nowhere' }), '503 ');
  assert.equal(await stat(proxy, 'cluster_manager.cluster_added'), 2);
  // It goes as it has come.
  plane.set(CLUSTER, '3', []);
  await until(async () => (await stat(proxy, 'cluster_manager.cluster_removed')) === 1, 'its end');
  assert.equal(await get('a.test', { 'x-cluster': 'there' }), '503 ');
});

test('a request goes by the routes of its scope', async (t) => {
  const plane = await ControlPlane.start(t);
  plane.set(ROUTES, '1', [
    { name: 'red-routes', virtual_hosts: [says('all', 'red')] },
    { name: 'blue-routes', virtual_hosts: [says('all', 'blue')] },
  ]);
  const scope = (name: string, key = name): Message => ({
    ...{ name, route_configuration_name: `${name}-routes` },
    key: { fragments: [{ string_key: key }] },
  });
  plane.set(SCOPE, '1', [scope('red'), scope('blue')]);
  const { proxy, get } = await start(t, plane, {
    scoped_routes: {
      name: 'scopes',
      scope_key_builder: {
        fragments: [{ header_value_extractor: { name: 'Host', index: 0 } }],
      },
      rds_config_source: ADS,
      scoped_rds: { scoped_rds_config_source: ADS },
    },
    http_filters: [ROUTER],
  });
  assert.deepEqual(await Promise.all(['red', 'blue', 'green'].map((host) => get(host))), [
    ...['200 red', '200 blue', '404 '],
  ]);
  plane.set(SCOPE, '2', [scope('red', 'green')]);
  await until(async () => (await get('green')) === '200 red', 'the change');
  assert.deepEqual([await get('red'), await get('blue')], ['404 ', '404 ']);
  assert.equal(await stat(proxy, 'http.web.scoped_rds.scopes.all_scopes'), 1);
  // An update that only takes scopes away counts, but is not shown.
  plane.set(SCOPE, '3', []);
  await until(async () => (await get('green')) === '404 ', 'its end');
  assert.equal(await stat(proxy, 'http.web.scoped_rds.scopes.config_reload'), 3);
  const page = `${proxy.adminUrl}/config_dump?resource=dynamic_scoped_route_configs`;
  const { configs } = (await (await fetch(page)).json()) as { configs: { version_info: string }[] };
  assert.deepEqual(
    configs.map((one) => one.version_info),
    ['2'],
  );
});

for (const isDelta of [false, true]) {
  test(`a cluster goes when its time is over, by ${isDelta ? 'incremental' : 'plain'} ADS`, async (t) => {
    const plane = await ControlPlane.start(t);
    const manager = {
      route_config: { virtual_hosts: [says('all', 'hello')] },
      http_filters: [ROUTER],
    };
    const { proxy } = await start(t, plane, manager, isDelta);
    plane.set(CLUSTER, '2', [{ name: 'brief' }], { ttlSeconds: 0.4 });
    await until(
      async () => (await stat(proxy, 'cluster_manager.active_clusters')) === 2,
      'the cluster',
    );
    await until(
      async () => (await stat(proxy, 'cluster_manager.active_clusters')) === 1,
      'its end',
    );
  });
}
