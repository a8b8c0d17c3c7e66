// What /config_dump consists of: a dump per kind of configuration, in the real server's order.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_cluster_v3_Cluster as Cluster,
  envoy_config_listener_v3_Listener as Listener,
} from '../../../build/messages.gen.js';
import { isObject, type PlainObject } from '../../config/objects.js';
import type { MessageType, Schema } from '../../config/schema.js';
import type { AdminHost } from '../host.js';
import { buildVersion, USER_AGENT } from '../handlers/server-info.js';
import { liveAssignment, readLiveClusters } from './endpoints.js';

/** One configured object of a dump: a decoded message of the list's element type. */
export interface DumpItem {
  /** What `name_regex` is matched with. */
  readonly name: string;
  readonly message: PlainObject;
}

export interface Dump {
  readonly type: MessageType;
  /** Decoded fields that are no lists. */
  readonly single: PlainObject;
  readonly lists: Readonly<Record<string, readonly DumpItem[]>>;
}

const HCM = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

export function collectDumps(schema: Schema, host: AdminHost, includesEndpoints: boolean): Dump[] {
  const { bootstrap, configuredMs } = host;
  const { clusters = [], listeners = [] } = bootstrap.static_resources ?? {};
  const time = { last_updated: timestamp(configuredMs) };
  const dump = (kind: string, single: PlainObject, lists: Dump['lists'] = {}): Dump => ({
    type: schema.getMessage(`envoy.admin.v3.${kind}ConfigDump`),
    single,
    lists,
  });
  const sorted = clusters.toSorted(byName);
  return [
    dump('Bootstrap', { bootstrap: withAgent(bootstrap), ...time }),
    dump('Clusters', {}, { static_clusters: sorted.map((cluster) => clusterItem(cluster, time)) }),
    ...(includesEndpoints
      ? [dump('Endpoints', {}, { static_endpoint_configs: endpointItems(host, sorted) })]
      : []),
    dump('Listeners', {}, { static_listeners: listeners.map((one) => listenerItem(one, time)) }),
    dump('ScopedRoutes', {}),
    dump('Routes', {}, { static_route_configs: routeItems(listeners, time) }),
    dump('Secrets', {}, { static_secrets: secretItems(bootstrap) }),
  ];
}

const byName = (a: Named, b: Named): number => ((a.name ?? '') < (b.name ?? '') ? -1 : 1);

interface Named {
  readonly name?: string;
}

/** Whole seconds have no fraction. */
const timestamp = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

const typed = (type: string, message: object): PlainObject => ({ ...message, $type: type });

/** The bootstrap's node tells who reads it. */
function withAgent(bootstrap: Bootstrap): PlainObject {
  const node = {
    ...bootstrap.node,
    user_agent_name: USER_AGENT,
    user_agent_build_version: buildVersion(),
  };
  return { ...bootstrap, node };
}

function clusterItem(cluster: Cluster, time: PlainObject): DumpItem {
  const message = { cluster: typed('envoy.config.cluster.v3.Cluster', cluster), ...time };
  return { name: cluster.name ?? '', message };
}

function listenerItem(listener: Listener, time: PlainObject): DumpItem {
  const message = { listener: typed('envoy.config.listener.v3.Listener', listener), ...time };
  return { name: listener.name ?? '', message };
}

function endpointItems({ native }: AdminHost, clusters: readonly Cluster[]): DumpItem[] {
  const live = readLiveClusters(native);
  return clusters.map((cluster) => {
    const assignment = liveAssignment(cluster, live.get(cluster.name ?? '') ?? []);
    const type = 'envoy.config.endpoint.v3.ClusterLoadAssignment';
    return {
      name: assignment.cluster_name,
      message: { endpoint_config: typed(type, assignment) },
    };
  });
}

/** The route configurations that are written inside of HTTP connection managers. */
function routeItems(listeners: readonly Listener[], time: PlainObject): DumpItem[] {
  const chains = listeners.flatMap(({ filter_chains: some = [], default_filter_chain: last }) =>
    last ? [...some, last] : some,
  );
  const filters = chains.flatMap(({ filters: some = [] }) => some);
  return filters.flatMap(({ typed_config: config }): DumpItem[] => {
    const routes = isObject(config) && config['$type'] === HCM ? config['route_config'] : undefined;
    if (!isObject(routes)) return [];
    const route_config = typed('envoy.config.route.v3.RouteConfiguration', routes);
    return [{ name: nameOf(routes), message: { route_config, ...time } }];
  });
}

function secretItems(bootstrap: Bootstrap): DumpItem[] {
  const secrets = bootstrap.static_resources?.secrets ?? [];
  return secrets.toSorted(byName).map((secret) => {
    const type = 'envoy.extensions.transport_sockets.tls.v3.Secret';
    const name = secret.name ?? '';
    return { name, message: { name, secret: typed(type, secret) } };
  });
}

const nameOf = (message: PlainObject): string =>
  typeof message['name'] === 'string' ? message['name'] : '';
