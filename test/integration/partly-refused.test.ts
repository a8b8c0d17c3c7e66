// Updates of which a part is wrong: what is taken of them, and what becomes of that with the next. The real
// server passes these stories, too (FAIRLEAD_TEST_COMMAND).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADMIN_ONLY, address, planeCluster } from './support/bootstraps.js';
import { SERVER_CERTIFICATE, SERVER_KEY } from './support/certificates.js';
import {
  CLUSTER,
  ControlPlane,
  ENDPOINTS,
  LISTENER,
  ROUTES,
  SCOPE,
  SECRET,
  type Message,
} from './support/control-plane.js';
import { startProxy, type StartedProxy } from './support/start-proxy.js';
import { statText, untilStat } from './support/stats.js';

const ANY = 'type.googleapis.com/';
const HCM = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const ROUTER = 'envoy.extensions.filters.http.router.v3.Router';
const TLS = 'envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext';
const ADS: Message = { ads: {}, resource_api_version: 'V3' };

const bootstrap = (isDelta: boolean, plane: ControlPlane): Message => ({
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
    clusters: [planeCluster(plane.port)],
  },
});

const edsCluster = (name: string): Message => ({
  ...{ name, type: 'EDS', eds_cluster_config: { eds_config: ADS } },
});
const hosts = (name: string, ...ports: readonly number[]): Message => ({
  cluster_name: name,
  endpoints: [{ lb_endpoints: ports.map((port) => ({ endpoint: { address: address(port) } })) }],
});

/** Items of a page of /config_dump. */
async function dump({ adminUrl }: StartedProxy, resource: string): Promise<readonly Message[]> {
  const page = await fetch(`${adminUrl}/config_dump?resource=${resource}`);
  return ((await page.json()) as { readonly configs?: readonly Message[] }).configs ?? [];
}

test('clusters that were taken beside one that is wrong stay, where only what changes is told', async (t) => {
  const plane = await ControlPlane.start(t);
  const wrong = { name: 'wrong', type: 'EDS' };
  const [one, two, three] = ['one', 'two', 'three'].map((name) => ({ name }));
  plane.set(LISTENER, 'l1', []);
  plane.set(CLUSTER, 'c1', [{ ...one }]);
  const proxy = await startProxy(t, bootstrap(true, plane));
  const names = async (): Promise<readonly unknown[]> => {
    const all = await dump(proxy, 'dynamic_active_clusters');
    return all.map(({ cluster }) => (cluster as Message)['name']).sort();
  };
  plane.set(CLUSTER, 'c2', [{ ...one }, wrong, { ...two }]);
  await untilStat(proxy, 'cluster_manager.cds.update_rejected', 1);
  assert.deepEqual(await names(), ['one', 'two']);
  plane.set(CLUSTER, 'c3', [{ ...one }, { ...two }, { ...three }]);
  await untilStat(proxy, 'cluster_manager.cds.update_success', 2);
  assert.deepEqual(await names(), ['one', 'three', 'two']);
  plane.set(CLUSTER, 'c4', [{ ...three }]);
  await untilStat(proxy, 'cluster_manager.cds.update_success', 3);
  assert.deepEqual(await names(), ['three']);
});

test('an extension of a type that nobody knows is wrong in its cluster or listener alone', async (t) => {
  const plane = await ControlPlane.start(t);
  const empty = (type: string): Message => ({ type_url: ANY + type, value: Buffer.alloc(0) });
  const unknown = empty('nowhere.Nothing');
  const odd = { name: 'odd', typed_config: unknown };
  const roundRobin = 'envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin';
  const known = { name: 'known', typed_config: empty(roundRobin) };
  const listener = (name: string, filters: readonly Message[]): Message => ({
    ...{ name, address: address(0), filter_chains: [{ filters }] },
  });
  plane.set(CLUSTER, 'c1', [
    { name: 'one' },
    { name: 'socket', transport_socket: odd },
    {
      name: 'chosen',
      metadata: { typed_filter_metadata: { odd: unknown } },
      load_balancing_policy: {
        policies: [{ typed_extension_config: odd }, { typed_extension_config: known }],
      },
    },
    { name: 'none', load_balancing_policy: { policies: [{ typed_extension_config: odd }] } },
  ]);
  plane.set(LISTENER, 'l1', [listener('good', []), listener('bad', [odd])]);
  const proxy = await startProxy(t, bootstrap(false, plane));
  await untilStat(proxy, 'listener_manager.lds.update_rejected', 1);
  const refusal = plane.refusals.find(({ type }) => type === CLUSTER)?.error_detail?.message ?? '';
  assert.match(refusal, /^Error adding\/updating cluster\(s\) socket: [^]*none: /);
  assert.equal(await statText(proxy, 'cluster_manager.active_clusters'), '3');
  assert.equal(await statText(proxy, 'listener_manager.listener_added'), '1');
});

test('who asked before the one whose hosts are wrong goes on with those that it has', async (t) => {
  const plane = await ControlPlane.start(t);
  plane.set(LISTENER, 'l1', []);
  plane.set(CLUSTER, 'c1', [edsCluster('first'), edsCluster('second')]);
  plane.set(ENDPOINTS, 'e1', [hosts('first', 1), hosts('second', 1)]);
  const proxy = await startProxy(t, bootstrap(false, plane));
  const noAddress = { socket_address: { address: 'nowhere', port_value: 1 } };
  const wrong = {
    cluster_name: 'second',
    endpoints: [{ lb_endpoints: [{ endpoint: { address: noAddress } }] }],
  };
  plane.set(ENDPOINTS, 'e2', [hosts('first', 1, 2), wrong]);
  await untilStat(proxy, 'cluster.first.update_rejected', 1);
  assert.equal(await statText(proxy, 'cluster.second.update_rejected'), '1');
  assert.equal(await statText(proxy, 'cluster.first.membership_total'), '1');
  plane.set(ENDPOINTS, 'e3', [hosts('first', 1, 2), hosts('second', 1, 2, 3)]);
  await untilStat(proxy, 'cluster.first.membership_total', 2);
  await untilStat(proxy, 'cluster.second.membership_total', 3);
  assert.equal(await statText(proxy, 'cluster.first.update_success'), '2');
});

test('a secret that comes by itself is shown with its own version', async (t) => {
  const plane = await ControlPlane.start(t);
  plane.set(CLUSTER, 'c1', []);
  const context = { tls_certificate_sds_secret_configs: [{ name: 'own', sds_config: ADS }] };
  const socket = { '@type': ANY + TLS, common_tls_context: context };
  const chain = { filters: [], transport_socket: { name: 'tls', typed_config: socket } };
  plane.set(LISTENER, 'l1', [{ name: 'safe', address: address(0), filter_chains: [chain] }]);
  const tls_certificate = {
    certificate_chain: { inline_string: SERVER_CERTIFICATE },
    private_key: { inline_string: SERVER_KEY },
  };
  plane.set(SECRET, 's1', [{ name: 'own', tls_certificate }]);
  const proxy = await startProxy(t, bootstrap(true, plane));
  const [secret] = await dump(proxy, 'dynamic_active_secrets');
  assert.equal(secret?.['name'], 'own');
  // Versions of this control plane's resources say what is in them.
  assert.match(String(secret['version_info']), /^\d+\{"@type"/);
  assert.equal(await statText(proxy, 'sds.own.version_text'), '"s1"');
});

const scopedListener: Message = {
  ...{ name: 'web', address: address(0) },
  filter_chains: [
    {
      filters: [
        {
          name: 'web',
          typed_config: {
            '@type': ANY + HCM,
            stat_prefix: 'web',
            scoped_routes: {
              name: 'scopes',
              scope_key_builder: {
                fragments: [
                  { header_value_extractor: { name: 'x', index: 0, element_separator: ',' } },
                ],
              },
              rds_config_source: ADS,
              scoped_rds: { scoped_rds_config_source: ADS },
            },
            http_filters: [{ name: 'router', typed_config: { '@type': ANY + ROUTER } }],
          },
        },
      ],
    },
  ],
};
const tableOf = (name: string, action: Message): Message => ({
  name,
  virtual_hosts: [{ name, domains: ['*'], routes: [{ match: { prefix: '/' }, ...action }] }],
});
const scope = (name: string, key: string, table: Message): Message => ({
  ...{ name, key: { fragments: [{ string_key: key }] }, ...table },
});

for (const isDelta of [false, true]) {
  const way = isDelta ? 'changes' : 'all of them';
  test(`scopes before the first that is wrong are taken, and what is gone goes, told of ${way}`, async (t) => {
    const plane = await ControlPlane.start(t);
    const direct = { direct_response: { status: 200, body: { inline_string: 'direct' } } };
    const table = { route_configuration_name: 'table' };
    const nowhere = { route_configuration: tableOf('inline', { route: { cluster: 'nowhere' } }) };
    plane.set(CLUSTER, 'c1', []);
    plane.set(LISTENER, 'l1', [scopedListener]);
    plane.set(ROUTES, 'r1', [tableOf('table', direct)]);
    plane.set(SCOPE, 's1', [scope('b', 'b1', table), scope('a', 'a1', table)]);
    const proxy = await startProxy(t, bootstrap(isDelta, plane));
    const shown = async (): Promise<unknown> => {
      const [all] = await dump(proxy, 'dynamic_scoped_route_configs');
      const scopes = all?.['scoped_route_configs'] as readonly Message[];
      const keyOf = ({ key }: Message): unknown =>
        (key as { readonly fragments: readonly Message[] }).fragments[0]?.['string_key'];
      return [all?.['version_info'], ...scopes.map(keyOf)];
    };
    const prefix = 'http.web.scoped_rds.scopes';
    assert.deepEqual(await shown(), ['s1', 'a1', 'b1']);

    // One whose table asks a cluster that is not there.
    plane.set(SCOPE, 's2', [
      ...[scope('a', 'a2', table), scope('wrong', 'wrong', nowhere), scope('c', 'c2', table)],
    ]);
    await untilStat(proxy, `${prefix}.update_rejected`, 1);
    assert.deepEqual(await shown(), ['s1', 'a2']);
    assert.equal(await statText(proxy, `${prefix}.active_scopes`), '1');
    assert.equal(await statText(proxy, `${prefix}.all_scopes`), '2');
    const url = await proxy.listenerUrl('web');
    assert.equal((await fetch(url, { headers: { x: 'b1' } })).status, 404);

    // Two of one key: all of it is refused.
    plane.set(SCOPE, 's3', [scope('d', 'd3', table), scope('e', 'd3', table)]);
    await untilStat(proxy, `${prefix}.update_rejected`, 2);
    assert.deepEqual(await shown(), ['s1', 'a2']);

    plane.set(SCOPE, 's4', [scope('f', 'f4', table), scope('a', 'a4', table)]);
    await untilStat(proxy, `${prefix}.update_success`, 2);
    assert.deepEqual(await shown(), ['s4', 'a4', 'f4']);
    assert.equal(await statText(proxy, `${prefix}.all_scopes`), '2');
    assert.equal(await (await fetch(url, { headers: { x: 'a4' } })).text(), 'direct');
  });
}
