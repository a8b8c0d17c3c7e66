// What /config_dump consists of: a dump per kind of configuration, in the real server's order.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_cluster_v3_Cluster as Cluster,
  envoy_config_listener_v3_Listener as Listener,
} from '../../../build/messages.gen.js';
import { isObject, type PlainObject } from '../../config/values/objects.js';
import type { MessageType, Schema } from '../../config/schema/schema.js';
import type { DynamicCluster } from '../../xds/clusters.js';
import type { AdminHost } from '../host.js';
import { buildVersion } from '../../base/version.js';
import { extensionsJson, USER_AGENT } from '../agent.js';
import { liveAssignment, readLiveHosts } from './endpoints.js';

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
  /** Made one by one: there may be many. */
  readonly lists: Readonly<Record<string, () => Iterable<DumpItem>>>;
}

const HCM = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

export function collectDumps(schema: Schema, host: AdminHost, includesEndpoints: boolean): Dump[] {
  const { bootstrap, configuredMs, options } = host;
  const { clusters = [], listeners = [] } = bootstrap.static_resources ?? {};
  const time = { last_updated: timestamp(configuredMs) };
  const dump = (kind: string, single: PlainObject, lists: Dump['lists'] = {}): Dump => ({
    type: schema.getMessage(`envoy.admin.v3.${kind}ConfigDump`),
    single,
    lists,
  });
  const sorted = sortedByName(clusters);
  const { version = '', all = [] } = host.xds?.clusters() ?? {};
  const dynamic = all.toSorted((a, b) =>
    (a.message.name ?? '') < (b.message.name ?? '') ? -1 : 1,
  );
  return [
    dump('Bootstrap', { bootstrap: withAgent(bootstrap, options), ...time }),
    dump('Clusters', version === '' ? {} : { version_info: version }, {
      static_clusters: () => clusterItems(sorted, time),
      dynamic_active_clusters: () => dynamicClusterItems(dynamic),
    }),
    ...(includesEndpoints
      ? [
          dump(
            'Endpoints',
            {},
            {
              static_endpoint_configs: () => endpointItems(host, sorted),
              dynamic_endpoint_configs: () =>
                endpointItems(
                  host,
                  dynamic.map(({ message }) => message),
                ),
            },
          ),
        ]
      : []),
    dump('Listeners', {}, { static_listeners: () => listenerItems(listeners, time) }),
    dump('ScopedRoutes', {}),
    dump(
      'Routes',
      {},
      {
        static_route_configs: () => routeItems(listeners, time),
        dynamic_route_configs: () => dynamicRouteItems(host),
      },
    ),
    dump('Secrets', {}, { static_secrets: () => secretItems(bootstrap) }),
  ];
}

/** Lists of the configuration do not change: each is sorted once. */
const sortedLists = new WeakMap<readonly Named[], readonly Named[]>();

function sortedByName<T extends Named>(list: readonly T[]): readonly T[] {
  const known = sortedLists.get(list) as readonly T[] | undefined;
  if (known) return known;
  const sorted = list.toSorted((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1));
  sortedLists.set(list, sorted);
  return sorted;
}

interface Named {
  readonly name?: string;
}

/** Whole seconds have no fraction. */
const timestamp = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

const typed = (type: string, message: object): PlainObject => ({ ...message, $type: type });

/** The bootstrap's node tells who reads it. */
function withAgent(bootstrap: Bootstrap, options: AdminHost['options']): PlainObject {
  const node = {
    ...bootstrap.node,
    user_agent_name: USER_AGENT,
    user_agent_build_version: buildVersion(),
    extensions: extensionsJson(options),
  };
  return { ...bootstrap, node };
}

function* clusterItems(clusters: readonly Cluster[], time: PlainObject): Generator<DumpItem> {
  for (const cluster of clusters) {
    const message = { cluster: typed('envoy.config.cluster.v3.Cluster', cluster), ...time };
    yield { name: cluster.name ?? '', message };
  }
}

function* dynamicClusterItems(clusters: readonly DynamicCluster[]): Generator<DumpItem> {
  for (const { version, message, updatedMs } of clusters) {
    yield {
      name: message.name ?? '',
      message: {
        ...(version !== '' && { version_info: version }),
        cluster: typed('envoy.config.cluster.v3.Cluster', message),
        last_updated: timestamp(updatedMs),
      },
    };
  }
}

function* listenerItems(listeners: readonly Listener[], time: PlainObject): Generator<DumpItem> {
  for (const listener of listeners) {
    const message = { listener: typed('envoy.config.listener.v3.Listener', listener), ...time };
    yield { name: listener.name ?? '', message };
  }
}

function* endpointItems(
  { native, xds }: AdminHost,
  clusters: readonly Cluster[],
): Generator<DumpItem> {
  for (const cluster of clusters) {
    const name = cluster.name ?? '';
    const dynamic = xds?.endpointsOf(name);
    const configured = dynamic
      ? { ...cluster, name: dynamic.serviceName, load_assignment: dynamic.assignment ?? {} }
      : cluster;
    const assignment = liveAssignment(configured, readLiveHosts(native, name));
    const type = 'envoy.config.endpoint.v3.ClusterLoadAssignment';
    yield {
      name: assignment.cluster_name,
      message: { endpoint_config: typed(type, assignment) },
    };
  }
}

/** The route configurations that are written inside of HTTP connection managers. */
function* routeItems(listeners: readonly Listener[], time: PlainObject): Generator<DumpItem> {
  for (const { filter_chains: some = [], default_filter_chain: last } of listeners) {
    const filters = (last ? [...some, last] : some).flatMap(({ filters: list = [] }) => list);
    for (const { typed_config: config } of filters) {
      const isManager = isObject(config) && config['$type'] === HCM;
      const routes = isManager ? config['route_config'] : undefined;
      if (!isObject(routes)) continue;
      const route_config = typed('envoy.config.route.v3.RouteConfiguration', routes);
      yield { name: nameOf(routes), message: { route_config, ...time } };
    }
  }
}

function* dynamicRouteItems({ xds }: AdminHost): Generator<DumpItem> {
  for (const { version, message, updatedMs } of xds?.routes() ?? []) {
    yield {
      name: message.name ?? '',
      message: {
        ...(version !== '' && { version_info: version }),
        route_config: typed('envoy.config.route.v3.RouteConfiguration', message),
        last_updated: timestamp(updatedMs),
      },
    };
  }
}

function* secretItems(bootstrap: Bootstrap): Generator<DumpItem> {
  for (const secret of sortedByName(bootstrap.static_resources?.secrets ?? [])) {
    const type = 'envoy.extensions.transport_sockets.tls.v3.Secret';
    const name = secret.name ?? '';
    yield { name, message: { name, secret: typed(type, secret) } };
  }
}

const nameOf = (message: PlainObject): string =>
  typeof message['name'] === 'string' ? message['name'] : '';
