// A bootstrap, decoded, becomes what the data plane and the server run from. Everything that is
// wrong is gathered; the result is to be used only when no issue is an error.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_bootstrap_v3_Bootstrap_StaticResources as StaticResources,
  envoy_config_bootstrap_v3_Bootstrap_DynamicResources as DynamicResources,
  envoy_config_bootstrap_v3_ClusterManager as ClusterManager,
} from '../../build/messages.gen.js';
import type { Issue } from '../config/issues/issue.js';
import type { Registry, CompileContext } from './extension.js';
import type { SinkPlan } from './extension-plans.js';
import type { TapDeclaration } from './match/tap.js';
import { compileAdmin, type AdminPlan } from './bootstrap/admin.js';
import { addressText } from './address/address.js';
import { compileCluster, type ClusterPlan, type DefaultBind } from './cluster/cluster.js';
import type { DnsClusterPlan } from './cluster/dns-cluster.js';
import { compileListener } from './listener/listener.js';
import { Place } from './message/place.js';
import type { Listener, TlsContext, Update } from './plan.gen.js';
import type { RuntimeValues } from './runtime/runtime.js';
import { RuntimeReads } from './runtime/runtime-reads.js';
import { checkLayers } from './runtime/runtime-layers.js';
import { checkRegexEngine } from './bootstrap/regex-engine.js';
import { compileStatsSinks } from './bootstrap/stats-sinks.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';
import type { CdsPlan } from './cluster/cds-plan.js';
import type { EdsPlan } from './cluster/eds-cluster.js';
import type { LdsPlan } from './listener/lds-plan.js';
import { compileConfigSource, type FileSource } from './config-source.js';
import { RouteSlots } from './route-slots.js';
import { StaticSecrets } from './static-secrets.js';
import type { TlsSocketPlan } from './tls-socket.js';

export type { AdminPlan } from './bootstrap/admin.js';

// The server itself reads some of these: node, statistics, runtime, watchdogs.
const BOOTSTRAP = supportedFields<Bootstrap>(
  'envoy.config.bootstrap.v3.Bootstrap',
  [
    'node',
    'node_context_params',
    'static_resources',
    'dynamic_resources',
    'cluster_manager',
    'layered_runtime',
    'admin',
    'default_regex_engine',
    // src/server/settings.ts uses, refuses or warns of each of these.
    'stats_flush_interval',
    'stats_flush_on_admin',
    'stats_config',
    'stats_sinks',
    'stats_server_version_override',
    'enable_dispatcher_stats',
    'watchdog',
    'watchdogs',
    'application_log_config',
  ],
  {
    overload_manager: {},
    deferred_stat_options: {},
    tracing: {},
  },
);
const STATIC = supportedFields<StaticResources>(
  'envoy.config.bootstrap.v3.Bootstrap.StaticResources',
  ['listeners', 'clusters', 'secrets'],
);
const DYNAMIC = supportedFields<DynamicResources>(
  'envoy.config.bootstrap.v3.Bootstrap.DynamicResources',
  ['lds_config', 'cds_config'],
  { ads_config: {} },
);
const CLUSTER_MANAGER = supportedFields<ClusterManager>(
  'envoy.config.bootstrap.v3.ClusterManager',
  ['upstream_bind_config', 'local_cluster_name'],
  { outlier_detection: {} },
);

export interface CompileOptions {
  /** --service-cluster; empty: the bootstrap's node. */
  readonly serviceCluster: string;
  readonly serviceNode: string;
  /** What a client on loopback is called. */
  readonly localAddress: string;
  /** Of all layers, as they are now. */
  readonly runtime: RuntimeValues;
  /** Those that there are; a disabled one is marked so. */
  readonly extensions: Registry;
  /** What OpenSSL says is wrong with a context of TLS; absent: nobody asks it. */
  readonly checkTls?: (context: TlsContext) => string | undefined;
}

/** What is compiled later can ask which route configurations are wanted. */
export type LaterContext = CompileContext & { readonly routes: RouteSlots };

export interface CompiledBootstrap {
  /** All static resources; clusters of `dnsClusters` and `eds` get their assignments later. */
  readonly update: Update;
  readonly dnsClusters: readonly DnsClusterPlan[];
  readonly eds: readonly EdsPlan[];
  /** Absent: no cluster comes later. */
  readonly cds?: CdsPlan;
  /** Absent: no listener comes later. */
  readonly lds?: LdsPlan;
  /** For what comes later. */
  readonly context: LaterContext;
  /** By the numbers that the update has for them. */
  readonly taps: readonly TapDeclaration[];
  /** Absent: no admin server. */
  readonly admin?: AdminPlan;
  /** What was read of the runtime. */
  readonly runtimeReads: RuntimeReads;
  readonly sinks: readonly SinkPlan[];
  /** Of clusters and then of listeners, in their order. */
  readonly tls: readonly TlsSocketPlan[];
  readonly issues: readonly Issue[];
}

export function compileBootstrap(bootstrap: Bootstrap, options: CompileOptions): CompiledBootstrap {
  const issues: Issue[] = [];
  const place = Place.root(issues);
  refuseOtherFields(place, bootstrap, BOOTSTRAP);
  checkRegexEngine(bootstrap.default_regex_engine, place.field('default_regex_engine'));
  checkLayers(bootstrap, place.field('layered_runtime').field('layers'));
  const resources = bootstrap.static_resources ?? {};
  refuseOtherFields(place.field('static_resources'), resources, STATIC);
  const secrets = new StaticSecrets(
    resources.secrets ?? [],
    place.field('static_resources').field('secrets'),
  );
  const taps: TapDeclaration[] = [];
  const sockets: TlsSocketPlan[] = [];
  const context: LaterContext = {
    ...contextOf(bootstrap, options),
    secrets,
    addTap: (tap) => taps.push(tap) - 1,
    addTls: (socket) => sockets.push(socket),
  };
  const bind = compileClusterManager(bootstrap, place.field('cluster_manager'), context);
  const clusters = compileClusters(resources, place, context, bind);
  const cds = compileCds(bootstrap, place.field('dynamic_resources'), context, bind);
  const lds = compileLds(bootstrap, place.field('dynamic_resources'), context);
  const listeners = compileListeners(
    resources,
    place.field('static_resources').field('listeners'),
    context,
  );
  const admin = bootstrap.admin && compileAdmin(bootstrap.admin, place.field('admin'), context);
  return {
    update: {
      clusters: clusters.map((plan) => plan.cluster),
      assignments: clusters.flatMap((plan) => plan.assignment ?? []),
      route_tables: [...context.routes.tables],
      listeners,
      connection_limit: context.runtime.liveNumber(CONNECTION_LIMIT, Number.MAX_SAFE_INTEGER),
      admin_access_logs: [...(admin?.accessLogs ?? [])],
    },
    dnsClusters: clusters.flatMap((plan) => plan.dns ?? []),
    eds: clusters.flatMap((plan) => plan.eds ?? []),
    ...(cds && { cds }),
    ...(lds && { lds: { source: lds, staticListeners: listeners } }),
    context,
    taps,
    ...(admin && { admin }),
    runtimeReads: context.runtime,
    sinks: compileStatsSinks(bootstrap, place.field('stats_sinks'), context),
    tls: [...clusters.flatMap((plan) => plan.sockets), ...sockets],
    issues,
  };
}

/** How many connections all listeners and the admin server may have together. */
export const CONNECTION_LIMIT = 'overload.global_downstream_max_connections';

function contextOf(
  bootstrap: Bootstrap,
  options: CompileOptions,
): Omit<LaterContext, 'secrets' | 'addTap' | 'addTls'> {
  const serviceCluster = options.serviceCluster || (bootstrap.node?.cluster ?? '');
  const serviceNode = options.serviceNode || (bootstrap.node?.id ?? '');
  return {
    serviceCluster,
    serviceNode,
    hasNode: serviceNode !== '' && serviceCluster !== '',
    localAddress: options.localAddress,
    clusterNames: new Set(
      (bootstrap.static_resources?.clusters ?? []).map((cluster) => cluster.name ?? ''),
    ),
    grpcClusters: new Map(),
    runtime: new RuntimeReads(options.runtime),
    extensions: options.extensions,
    routes: new RouteSlots(),
    checkTls: options.checkTls,
  };
}

/** How clusters bind the sockets of their connections, unless they say otherwise. */
function compileClusterManager(
  bootstrap: Bootstrap,
  place: Place,
  context: CompileContext,
): DefaultBind | undefined {
  const manager = bootstrap.cluster_manager ?? {};
  refuseOtherFields(place, manager, CLUSTER_MANAGER);
  const local = manager.local_cluster_name;
  if (local) refuseLocalCluster(local, place.field('local_cluster_name'), context);
  const config = manager.upstream_bind_config;
  return config && { config, place: place.field('upstream_bind_config') };
}

/** Where listeners come from that are not in the bootstrap. */
function compileLds(
  { dynamic_resources: dynamic }: Bootstrap,
  place: Place,
  context: CompileContext,
): FileSource | undefined {
  if (!dynamic?.lds_config) return undefined;
  const type = 'envoy.config.listener.v3.Listener';
  return compileConfigSource(dynamic.lds_config, type, place.field('lds_config'), context);
}

function compileCds(
  bootstrap: Bootstrap,
  place: Place,
  context: CompileContext,
  bind: DefaultBind | undefined,
): CdsPlan | undefined {
  const { dynamic_resources: dynamic } = bootstrap;
  if (!dynamic) return undefined;
  refuseOtherFields(place, dynamic, DYNAMIC);
  const source = compileConfigSource(
    dynamic.cds_config,
    'envoy.config.cluster.v3.Cluster',
    place.field('cds_config'),
    context,
  );
  return (
    source && {
      source,
      staticClusters: [...context.clusterNames],
      compile: (message, at) => compileCluster(message, at, context, bind),
    }
  );
}

function compileClusters(
  resources: StaticResources,
  place: Place,
  context: CompileContext,
  bind: DefaultBind | undefined,
): ClusterPlan[] {
  const seen = new Map<string, number>();
  const at = place.field('static_resources').field('clusters');
  return (resources.clusters ?? []).flatMap((message, index) => {
    const name = message.name ?? '';
    const first = seen.get(name);
    if (first === undefined) {
      seen.set(name, index);
    } else {
      at.index(index)
        .field('name')
        .error(`cluster manager: duplicate cluster '${name}'`, {
          expected: 'a name of its own for each cluster',
          related: at.index(first).field('name'),
        });
    }
    return compileCluster(message, at.index(index), context, bind) ?? [];
  });
}

function refuseLocalCluster(name: string, place: Place, context: CompileContext): void {
  if (context.clusterNames.has(name)) {
    place.error('routing by zones (local_cluster_name) is not supported yet');
  } else {
    place.error(`local cluster '${name}' must be defined`, {
      expected: 'the name of a static cluster',
    });
  }
}

/** Two listeners of one address would take each other's connections. */
function refuseSharedAddress(
  address: string,
  name: string,
  index: number,
  owners: Map<string, number>,
  place: Place,
): void {
  const owner = owners.get(address);
  if (owner === undefined) {
    owners.set(address, index);
    return;
  }
  const what = `'${name}' has duplicate address '${address}' as existing listener`;
  place
    .index(index)
    .field('address')
    .error(`error adding listener: ${what}`, { related: place.index(owner).field('address') });
}

/** A second listener of a name changes nothing, as in the real server. */
function compileListeners(
  resources: StaticResources,
  place: Place,
  context: CompileContext,
): Listener[] {
  const listeners = new Map<string, Listener>();
  const indexes = new Map<string, number>();
  const owners = new Map<string, number>();
  (resources.listeners ?? []).forEach((message, index) => {
    const listener = compileListener(message, place.index(index), context);
    if (!listener) return;
    const name = listener.name ?? '';
    if (listeners.has(name)) {
      place
        .index(index)
        .field('name')
        .warn(`listener '${name}' is there twice: this one is not used`, {
          expected: 'a name of its own for each listener',
          related: place.index(indexes.get(name) ?? 0).field('name'),
        });
      return;
    }
    indexes.set(name, index);
    const { address = {} } = listener;
    // Of port 0 each gets another.
    if (address.port !== 0) refuseSharedAddress(addressText(address), name, index, owners, place);
    listeners.set(name, listener);
  });
  return [...listeners.values()];
}
