// Restarts of processes whose configuration comes from a control plane: each has its own streams, and
// warms beside the one that serves.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { ADMIN_ONLY, address, planeCluster, webListener } from '../support/bootstraps.js';
import { SERVER_CERTIFICATE, SERVER_KEY } from '../support/certificates.js';
import {
  CLUSTER,
  ControlPlane,
  ENDPOINTS,
  LISTENER,
  ROUTES,
  SECRET,
  type Message,
} from '../support/control-plane.js';
import { startOrigin } from '../support/origin.js';
import { listenerPort } from '../support/start-proxy.js';
import { until } from '../support/waits.js';
import { Epochs, readStats, type RunningEpoch } from './epochs.js';
import { connectionLoad, keepAliveLoad } from './load.js';

const TLS = 'envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext';
const ANY = 'type.googleapis.com/';
const ADS = { ads: {}, resource_api_version: 'V3' };
const TIMES = ['--drain-time-s', '1', '--parent-shutdown-time-s', '3', '-l', 'warning'];
const RESTARTS = 4;
const PAUSE_MS = 150;

function bootstrap(plane: ControlPlane, isDelta: boolean): object {
  const ads = {
    api_type: isDelta ? 'DELTA_GRPC' : 'GRPC',
    transport_api_version: 'V3',
    grpc_services: [{ envoy_grpc: { cluster_name: 'plane' } }],
  };
  return {
    ...ADMIN_ONLY,
    node: { id: 'one', cluster: 'many' },
    dynamic_resources: { ads_config: ads, cds_config: ADS, lds_config: ADS },
    static_resources: {
      clusters: [planeCluster(plane.port)],
    },
  };
}

const web = (name: string): Message => ({
  ...webListener({ rds: { route_config_name: 'routes', config_source: ADS } }, 0),
  name,
});

/** Its certificate comes by SDS. */
function secure(): Message {
  const listener = web('secure') as { readonly filter_chains: readonly object[] };
  const secrets = [{ name: 'certificate', sds_config: ADS }];
  const typed_config = {
    '@type': ANY + TLS,
    common_tls_context: { tls_certificate_sds_secret_configs: secrets },
  };
  return {
    ...listener,
    filter_chains: listener.filter_chains.map((chain) => ({
      ...chain,
      transport_socket: { name: 'envoy.transport_sockets.tls', typed_config },
    })),
  };
}

/** One whose hosts are known as long as `knowsHosts`. */
function tellAll(plane: ControlPlane, origin: number, knowsHosts = true): void {
  plane.set(CLUSTER, 'c', [
    { name: 'a', type: 'EDS', eds_cluster_config: { eds_config: { ...ADS } } },
  ]);
  const hosts = [{ lb_endpoints: [{ endpoint: { address: address(origin) } }] }];
  plane.set(ENDPOINTS, 'e', knowsHosts ? [{ cluster_name: 'a', endpoints: hosts }] : []);
  plane.set(LISTENER, 'l', [web('web'), secure()]);
  plane.set(ROUTES, 'r', [
    {
      name: 'routes',
      virtual_hosts: [
        {
          name: 'v',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'a' } }],
        },
      ],
    },
  ]);
  plane.set(SECRET, 's', [
    {
      name: 'certificate',
      tls_certificate: {
        certificate_chain: { inline_string: SERVER_CERTIFICATE },
        private_key: { inline_string: SERVER_KEY },
      },
    },
  ]);
}

async function shakesHands(port: number): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  socket.destroy();
}

const isHere = (body: Buffer): boolean => body.toString() === 'here';

for (const isDelta of [false, true]) {
  const way = isDelta ? 'delta ADS' : 'ADS';
  test(`restarts under load of what comes by ${way}: nothing fails, and all is counted once`, async (t) => {
    const plane = await ControlPlane.start(t);
    tellAll(plane, await startOrigin(t, 'here'));
    const epochs = new Epochs(t, bootstrap(plane, isDelta), ...TIMES);
    let current = await epochs.start(0);
    const port = await listenerPort(current.adminUrl, 'web');
    const securePort = await listenerPort(current.adminUrl, 'secure');
    const loads = [
      keepAliveLoad(t, port, 3, { path: '/', expected: isHere }),
      connectionLoad(t, port, 2, { path: '/', expected: isHere }),
    ];
    const gone: RunningEpoch[] = [];
    for (let epoch = 1; epoch <= RESTARTS; epoch += 1) {
      gone.push(current);
      // One that the epoch before alone has, and one that this one alone has.
      plane.set(LISTENER, `l${epoch}`, [web('web'), secure(), web(`of-${epoch}`)]);
      current = await epochs.start(epoch);
      assert.equal(await listenerPort(current.adminUrl, 'web'), port);
      assert.equal(await listenerPort(current.adminUrl, 'secure'), securePort);
      await shakesHands(securePort);
      await sleep(PAUSE_MS);
    }
    const sent = await Promise.all(loads.map((load) => load.stop()));
    for (const { command } of gone) {
      const { code, signal, stderr } = await command.ended;
      assert.equal(code, 0, `${signal ?? ''} ${stderr}`);
    }
    assert.deepEqual(
      sent.flatMap(({ failures }) => failures),
      [],
    );
    const requests = sent.reduce((total, { requests: some }) => total + some, 0);
    const stats = await readStats(
      current.adminUrl,
      '^(http.web|cluster.a|server|control_plane)[.]',
    );
    assert.equal(stats.get('http.web.downstream_rq_2xx'), requests);
    assert.equal(stats.get('http.web.downstream_rq_active'), 0);
    assert.equal(stats.get('cluster.a.upstream_rq_200'), requests);
    assert.equal(stats.get('cluster.a.upstream_rq_active'), 0);
    assert.equal(stats.get('cluster.a.membership_total'), 1);
    assert.equal(stats.get('control_plane.connected_state'), 1);
    assert.equal(stats.get('server.hot_restart_epoch'), RESTARTS);
    assert.equal((await current.command.end()).code, 0);
  });
}

test('one that is killed while it warms leaves all to its parent, and the next one takes over', async (t) => {
  const origin = await startOrigin(t, 'here');
  const plane = await ControlPlane.start(t);
  tellAll(plane, origin);
  const silent = await ControlPlane.start(t);
  tellAll(silent, origin, false);
  const epochs = new Epochs(t, bootstrap(plane, false), ...TIMES);
  const parent = await epochs.start(0);
  const port = await listenerPort(parent.adminUrl, 'web');
  const load = keepAliveLoad(t, port, 2, { path: '/', expected: isHere });

  epochs.configure(bootstrap(silent, false));
  const killed = epochs.spawn(1);
  await until(() => silent.requests.some(({ type }) => type === ENDPOINTS), 'it waits for hosts');
  assert.equal(await (await fetch(`http://127.0.0.1:${port}`)).text(), 'here');
  await killed.end('SIGKILL');
  assert.equal(await (await fetch(`http://127.0.0.1:${port}`)).text(), 'here');

  epochs.configure(bootstrap(plane, false));
  const next = await epochs.start(1);
  assert.equal(await listenerPort(next.adminUrl, 'web'), port);
  await sleep(PAUSE_MS);
  const { requests, failures } = await load.stop();
  assert.equal((await parent.command.ended).code, 0);
  assert.deepEqual(failures, []);
  const stats = await readStats(next.adminUrl, '^(http.web|cluster.a)[.]');
  assert.equal(stats.get('http.web.downstream_rq_2xx'), requests + 2);
  assert.equal(stats.get('cluster.a.upstream_rq_200'), requests + 2);
  assert.equal((await next.command.end()).code, 0);
});
