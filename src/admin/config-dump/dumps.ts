// What /config_dump consists of: a dump per kind of configuration, in the real server's order.
import { crypto } from '../../base/late-modules.js';
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_cluster_v3_Cluster as Cluster,
  envoy_config_listener_v3_Listener as Listener,
} from '../../../build/messages.gen.js';
import { isObject, type PlainObject } from '../../config/values/objects.js';
import type { MessageType, Schema } from '../../config/schema/schema.js';
import type { DiscoveredKind } from '../../plan/discovered.js';
import type { DynamicCluster } from '../../xds/clusters.js';
import type { DynamicListeners } from '../../xds/xds.js';
import type { AdminHost } from '../host.js';
import { buildVersion } from '../../base/version.js';
import { withAgent } from '../../plan/own-node.js';
import { extensionsJson, USER_AGENT } from '../agent.js';
import { liveAssignment, readLiveHosts } from './endpoints.js';
import { hasManager, managersOf } from './managers.js';

/** One configured object of a dump: a decoded message of the list's element type. */
export interface DumpItem {
  /** What `name_regex` is matched with. */
  readonly name: string;
  readonly message: PlainObject;
  /** What of it is shown even where its name does not match; absent: nothing. */
  readonly always?: PlainObject;
}

export interface Dump {
  readonly type: MessageType;
  /** Decoded fields that are no lists. */
  readonly single: PlainObject;
  /** Made one by one: there may be many. */
  readonly lists: Readonly<Record<string, () => Iterable<DumpItem>>>;
}

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
  const dynamic = [...all, ...host.madeClusters].toSorted((a, b) =>
    (a.message.name ?? '') < (b.message.name ?? '') ? -1 : 1,
  );
  const inUse = dynamic.flatMap((one) =>
    isWarming(host, one.message) ? (replacedBy(host, one.message) ?? []) : one,
  );
  const lds = host.xds?.listeners();
  return [
    dump('Bootstrap', { bootstrap: asRead(bootstrap, options), ...time }),
    dump('Clusters', version === '' ? {} : { version_info: version }, {
      static_clusters: () => clusterItems(sorted, time),
      dynamic_active_clusters: () => dynamicClusterItems(inUse),
      dynamic_warming_clusters: () =>
        dynamicClusterItems(dynamic.filter(({ message }) => isWarming(host, message))),
    }),
    ...ecdsDumps(host, dump),
    ...(includesEndpoints && sorted.length + dynamic.length > 0
      ? [
          dump(
            'Endpoints',
            {},
            {
              static_endpoint_configs: () => endpointItems(host, sorted),
              dynamic_endpoint_configs: () =>
                endpointItems(
                  host,
                  inUse.map(({ message }) => message),
                ),
            },
          ),
        ]
      : []),
    dump('Listeners', lds?.version ? { version_info: lds.version } : {}, {
      static_listeners: () =>
        listenerItems(
          listeners.filter(({ name = '' }) => !host.droppedListeners.has(name)),
          time,
        ),
      dynamic_listeners: () => (lds ? dynamicListenerItems(lds) : []),
    }),
    ...routeDumps(host, dump),
    dump(
      'Secrets',
      {},
      {
        static_secrets: () => secretItems(bootstrap),
        dynamic_active_secrets: () => dynamicSecretItems(host, true),
        dynamic_warming_secrets: () => dynamicSecretItems(host, false),
      },
    ),
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

const isWarming = ({ xds }: AdminHost, { name = '' }: Cluster): boolean =>
  xds?.isWarming(name) ?? false;

const replacedBy = ({ xds }: AdminHost, { name = '' }: Cluster): DynamicCluster | undefined =>
  xds?.replaced(name);

/** Whole seconds have no fraction. */
const timestamp = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

const typed = (type: string, message: object): PlainObject => ({ ...message, $type: type });

/** The bootstrap's node tells who reads it. */
function asRead(bootstrap: Bootstrap, options: AdminHost['options']): PlainObject {
  const agent = {
    name: USER_AGENT,
    build: buildVersion(),
    extensions: extensionsJson(options),
  };
  return { ...bootstrap, node: withAgent(bootstrap.node ?? {}, agent) };
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

/** Of several of one name the first is there. */
function* listenerItems(listeners: readonly Listener[], time: PlainObject): Generator<DumpItem> {
  const names = new Set<string>();
  for (const listener of listeners) {
    const { name = '' } = listener;
    if (name !== '' && names.has(name)) continue;
    names.add(name);
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
    const shownName = cluster.eds_cluster_config?.service_name || name;
    const configured = dynamic
      ? { ...cluster, name: dynamic.serviceName || name, load_assignment: dynamic.assignment ?? {} }
      : { ...cluster, name: shownName };
    const assignment = liveAssignment(configured, readLiveHosts(native, name));
    const type = 'envoy.config.endpoint.v3.ClusterLoadAssignment';
    yield {
      name: assignment.cluster_name,
      message: { endpoint_config: typed(type, assignment) },
    };
  }
}

let unnamed: string | undefined;
/** As the real server: what has no name of its own is given one. */
const nameOfUnnamed = (): string => (unnamed ??= crypto().randomUUID());

/** A listener by its name, in each of the states that it is in: of errors it is told whatever is asked. */
function* dynamicListenerItems(lds: DynamicListeners): Generator<DumpItem> {
  const states = new Map<string, Record<string, PlainObject>>();
  const add = (name: string, state: string, value: PlainObject): void => {
    const known = states.get(name) ?? {};
    known[state] = value;
    states.set(name, known);
  };
  for (const one of lds.active) add(one.name, 'active_state', listenerState(one));
  for (const one of lds.warming) add(one.name, 'warming_state', listenerState(one));
  // Of several the one that drains longest is shown.
  for (const one of lds.draining) add(one.name, 'draining_state', listenerState(one));
  for (const { message, details, attemptMs, isKept } of lds.refused) {
    if (!isKept) continue;
    const last_update_attempt = timestamp(attemptMs);
    add(message.name ?? '', 'error_state', {
      ...failure(message),
      ...{ last_update_attempt, details },
    });
  }
  for (const [name, shown] of states) {
    const own = { name: name || nameOfUnnamed() };
    const { error_state } = shown;
    const always = error_state && { always: { ...own, error_state } };
    yield { name, message: { ...own, ...shown }, ...always };
  }
  // Once more, as what became of the update.
  for (const { message, details } of lds.refused) {
    const failed = { error_state: { ...failure(message), details } };
    yield { name: '', message: failed, always: failed };
  }
}

const LISTENER = 'envoy.config.listener.v3.Listener';
const failure = (message: Listener): PlainObject => ({
  failed_configuration: typed(LISTENER, message),
});

function listenerState({
  version,
  message,
  updatedMs,
}: DynamicListeners['active'][number]): PlainObject {
  return {
    ...(version !== '' && { version_info: version }),
    listener: typed(LISTENER, message),
    last_updated: timestamp(updatedMs),
  };
}

/** The route configurations that are written inside of HTTP connection managers. */
function* staticRouteItems(host: AdminHost): Generator<DumpItem> {
  for (const { config, updatedMs } of managersOf(host)) {
    const routes = config['route_config'];
    if (!isObject(routes)) continue;
    const now = routes['vhds'] === undefined ? undefined : host.xds?.writtenRoutes(routes);
    const route_config = typed(
      'envoy.config.route.v3.RouteConfiguration',
      (now?.message as PlainObject | undefined) ?? routes,
    );
    const message = { route_config, last_updated: timestamp(now?.updatedMs ?? updatedMs) };
    yield { name: nameOf(routes), message };
  }
}

type MakeDump = (kind: string, single: PlainObject, lists: Dump['lists']) => Dump;

/** None where there is no connection manager, as in the real server. */
function routeDumps(host: AdminHost, dump: MakeDump): Dump[] {
  if (!hasManager(host)) return [];
  const scopes = {
    inline_scoped_route_configs: () => inlineScopeItems(host),
    dynamic_scoped_route_configs: () => dynamicScopeItems(host),
  };
  const routes = {
    static_route_configs: () => staticRouteItems(host),
    dynamic_route_configs: () => dynamicRouteItems(host),
  };
  return [dump('ScopedRoutes', {}, scopes), dump('Routes', {}, routes)];
}

/** As the real server: a dump for each kind of filters that come later, where any is asked for. */
function ecdsDumps({ xds }: AdminHost, dump: MakeDump): Dump[] {
  const kinds = [
    'http_filter',
    'network_filter',
    'tcp_listener_filter',
    'upstream_http_filter',
  ] as const;
  return kinds.flatMap((kind) =>
    xds?.kindsOfExtensions.has(kind)
      ? [dump('Ecds', {}, { ecds_filters: () => extensionItems(xds, kind) })]
      : [],
  );
}

function* extensionItems(
  xds: NonNullable<AdminHost['xds']>,
  kind: DiscoveredKind,
): Generator<DumpItem> {
  for (const { version, message, updatedMs } of xds
    .extensions()
    .filter((one) => one.kind === kind)) {
    yield {
      name: message.name ?? '',
      message: {
        ...(version !== '' && { version_info: version }),
        ecds_filter: typed('envoy.config.core.v3.TypedExtensionConfig', message),
        last_updated: timestamp(updatedMs),
      },
    };
  }
}

const SCOPE = 'envoy.config.route.v3.ScopedRouteConfiguration';

function* inlineScopeItems(host: AdminHost): Generator<DumpItem> {
  for (const { config, updatedMs } of managersOf(host)) {
    const scoped = config['scoped_routes'];
    if (!isObject(scoped)) continue;
    const list = scoped['scoped_route_configurations_list'];
    const scopes = isObject(list) ? list['scoped_route_configurations'] : undefined;
    if (!Array.isArray(scopes)) continue;
    const name = nameOf(scoped);
    const scoped_route_configs = (scopes as readonly object[]).map((scope) => typed(SCOPE, scope));
    const last_updated = timestamp(updatedMs);
    yield { name, message: { name, scoped_route_configs, last_updated } };
  }
}

function* dynamicScopeItems({ xds }: AdminHost): Generator<DumpItem> {
  for (const { name, version, hasCome, all } of xds?.scopes() ?? []) {
    if (!hasCome) continue;
    const updatedMs = Math.max(0, ...all.map((scope) => scope.updatedMs));
    yield {
      name,
      message: {
        name,
        ...(version !== '' && { version_info: version }),
        scoped_route_configs: all.map(({ message }) => typed(SCOPE, message)),
        last_updated: timestamp(updatedMs),
      },
    };
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

/** As the real server lists them: kind by kind. */
const SECRET_KINDS = [
  'tls_certificate',
  'validation_context',
  'session_ticket_keys',
  'generic_secret',
] as const;

function* secretItems(bootstrap: Bootstrap): Generator<DumpItem> {
  const sorted = sortedByName(bootstrap.static_resources?.secrets ?? []);
  const byKind = SECRET_KINDS.flatMap((kind) =>
    sorted.filter((secret) => secret[kind] !== undefined),
  );
  for (const secret of byKind) {
    const type = 'envoy.extensions.transport_sockets.tls.v3.Secret';
    const name = secret.name ?? '';
    yield { name, message: { name, secret: typed(type, secret) } };
  }
}

/** Keys are hidden later. */
function* dynamicSecretItems({ xds }: AdminHost, isThere: boolean): Generator<DumpItem> {
  const secrets = (xds?.secrets() ?? []).filter(
    ({ message }) => (message !== undefined) === isThere,
  );
  for (const { name, version, message, updatedMs } of secrets) {
    const secret = message ?? { name };
    yield {
      name,
      message: {
        name,
        ...(version !== '' && { version_info: version }),
        last_updated: timestamp(updatedMs),
        secret: typed('envoy.extensions.transport_sockets.tls.v3.Secret', secret),
      },
    };
  }
}

const nameOf = (message: PlainObject): string =>
  typeof message['name'] === 'string' ? message['name'] : '';
