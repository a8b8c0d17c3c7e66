// A bootstrap, decoded, becomes what the data plane and the server run from. Everything that is
// wrong is gathered; the result is to be used only when no issue is an error.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_bootstrap_v3_Bootstrap_StaticResources as StaticResources,
  envoy_config_bootstrap_v3_Bootstrap_DynamicResources as DynamicResources,
  envoy_config_bootstrap_v3_ClusterManager as ClusterManager,
  envoy_config_cluster_v3_Cluster as Cluster,
} from '../../build/messages.gen.js';
import { TagNames } from './tag-names.js';
import { TracerPlans } from './tracer-plans.js';
import type { Issue } from '../config/issues/issue.js';
import type { CompiledBootstrap, CompileOptions, LaterContext } from './compiled.js';
import type { CompileContext } from './extension.js';
import { LogServices } from './log-service.js';
import type { TapDeclaration } from './match/tap.js';
import { compileAdmin } from './bootstrap/admin.js';
import { ARE_USED, Authorities } from './authorities.js';
import { compileAuthorities } from './authority-streams.js';
import { findDefaultTracer } from './tracing/default-tracer.js';
import { compileBootstrapExtensions } from './bootstrap/bootstrap-extensions.js';
import { compileCluster, type DefaultBind } from './cluster/cluster.js';
import { ControlClusters } from './control-clusters.js';
import { HiddenClusterPlans } from './cluster/hidden-clusters.js';
import { compileOutlierLog } from './cluster/outlier-detection.js';
import { compileOverload, type OverloadPlan } from './bootstrap/overload.js';
import { ClusterSources } from './cluster-sources.js';
import { BootstrapPlaces, LaterPlaces } from './discovered.js';
import { JwksSources } from './jwks-source.js';
import { HeldSecrets, LiveSources } from './live-sources.js';
import { Place } from './message/place.js';
import { ownNode } from './own-node.js';
import type { ConnectionLimit } from './plan.gen.js';
import { RuntimeReads } from './runtime/runtime-reads.js';
import { checkLayers } from './runtime/runtime-layers.js';
import { compileRtds } from './rtds.js';
import { checkRegexEngine } from './bootstrap/regex-engine.js';
import { compileProcessSettings, defaultResolverOf } from './bootstrap/process-settings.js';
import { compileStatsSinks } from './bootstrap/stats-sinks.js';
import { compileWatchdogs } from './bootstrap/watchdogs.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';
import type { CdsPlan } from './cluster/cds-plan.js';
import { compileCollection, compileNodeContext } from './collections.js';
import { compileConfigSource } from './config-source.js';
import { compileAds, compileServiceStream } from './grpc/api-config-source.js';
import type { Collected } from './sources.js';
import { RouteSlots } from './route-slots.js';
import { NamePlans } from './cluster/names.js';
import { StaticSecrets } from './static-secrets.js';
import type { TlsSocketPlan } from './tls-socket.js';
import {
  compileClusters,
  checkLocalCluster,
  compileListeners,
  assignmentsOf,
} from './static-resources.js';

// The server itself reads some of these: node, statistics, runtime, watchdogs.
const BOOTSTRAP = supportedFields<Bootstrap>('envoy.config.bootstrap.v3.Bootstrap', [
  'node',
  'node_context_params',
  'static_resources',
  'dynamic_resources',
  'config_sources',
  'default_config_source',
  'cluster_manager',
  'hds_config',
  'layered_runtime',
  'admin',
  'bootstrap_extensions',
  'default_regex_engine',
  // src/server/settings.ts uses, refuses or warns of each of these.
  'flags_path',
  'stats_flush_interval',
  'stats_flush_on_admin',
  'stats_config',
  'stats_sinks',
  'stats_server_version_override',
  'watchdog',
  'watchdogs',
  'application_log_config',
  'overload_manager',
  'deferred_stat_options',
  'tracing',
  'header_prefix',
  'enable_dispatcher_stats',
  'use_tcp_for_dns_lookups',
  'dns_resolution_config',
  'typed_dns_resolver_config',
  'default_socket_interface',
  'inline_headers',
  'fatal_actions',
  'memory_allocator_manager',
  'stats_eviction_interval',
  'enable_worker_cpu_affinity',
  'perf_tracing_file_path',
  // Clients of gRPC services are kept as long as anybody uses them.
  'grpc_async_client_manager_config',
  // As in the real server, which looks at one once something names it.
  'certificate_provider_instances',
]);
const STATIC = supportedFields<StaticResources>(
  'envoy.config.bootstrap.v3.Bootstrap.StaticResources',
  ['listeners', 'clusters', 'secrets'],
);
const DYNAMIC = supportedFields<DynamicResources>(
  'envoy.config.bootstrap.v3.Bootstrap.DynamicResources',
  ['lds_config', 'cds_config', 'ads_config', 'lds_resources_locator', 'cds_resources_locator'],
);
const CLUSTER_MANAGER = supportedFields<ClusterManager>(
  'envoy.config.bootstrap.v3.ClusterManager',
  // What a worker has of a cluster is made when the first request asks for it, with or without this.
  [
    'outlier_detection',
    'upstream_bind_config',
    'local_cluster_name',
    'enable_deferred_cluster_creation',
    'load_stats_config',
  ],
);

export function compileBootstrap(bootstrap: Bootstrap, options: CompileOptions): CompiledBootstrap {
  const issues: Issue[] = [];
  const startIssues: Issue[] = [];
  const shared = contextOf(bootstrap, options);
  const place = Place.root(issues).reading(shared.runtime);
  const start = Place.root(startIssues).reading(shared.runtime);
  refuseOtherFields(place, bootstrap, BOOTSTRAP);
  checkRegexEngine(bootstrap.default_regex_engine, place.field('default_regex_engine'));
  checkLayers(bootstrap, place.field('layered_runtime').field('layers'));
  const dynamic = bootstrap.dynamic_resources ?? {};
  refuseOtherFields(place.field('dynamic_resources'), dynamic, DYNAMIC);
  const resources = bootstrap.static_resources ?? {};
  refuseOtherFields(place.field('static_resources'), resources, STATIC);
  const secrets = new StaticSecrets(
    resources.secrets ?? [],
    place.field('static_resources').field('secrets'),
  );
  const settings = compileProcessSettings(bootstrap, place, start);
  const taps: TapDeclaration[] = [];
  const discovered = new BootstrapPlaces();
  const logServices = new LogServices();
  const jwks = new JwksSources();
  const sockets: TlsSocketPlan[] = [];
  const internalListeners = compileBootstrapExtensions(
    bootstrap.bootstrap_extensions,
    place.field('bootstrap_extensions'),
  );
  const defaultTracer = findDefaultTracer(bootstrap, place, shared);
  const context: LaterContext = {
    ...shared,
    start,
    ...(internalListeners && { internalListeners }),
    ...(defaultTracer && { defaultTracer }),
    secrets,
    discovered,
    nodeContext: compileNodeContext(
      bootstrap,
      ownNode(bootstrap.node ?? {}, options),
      place.field('node_context_params'),
    ),
    isAdsDelta: dynamic.ads_config?.api_type === 'DELTA_GRPC',
    clusterSources: new ClusterSources(),
    logServices,
    // What its message says is this server's own.
    hiddenClusters: new HiddenClusterPlans((message, at) =>
      compileCluster(message, at, { ...context, start: undefined }, undefined),
    ),
    addTap: (tap) => taps.push(tap) - 1,
    live: new LiveSources(),
    addJwks: (source) => jwks.add(source),
    addTls: (socket) => sockets.push(socket),
    // Whoever is there from the beginning is not waited for alone.
    holdLive: () => undefined,
  };
  const bind = compileClusterManager(bootstrap, place.field('cluster_manager'), context);
  const clusters = compileClusters(resources, place, context, bind);
  const ads =
    dynamic.ads_config &&
    compileAds(dynamic.ads_config, place.field('dynamic_resources').field('ads_config'), context);
  const authorities = compileAuthorities(bootstrap, place, context);
  const loads = bootstrap.cluster_manager?.load_stats_config;
  const loadsAt = start.field('cluster_manager').field('load_stats_config');
  const loadReports = loads && compileServiceStream(loads, loadsAt, context);
  const hds = bootstrap.hds_config;
  const hdsStream = hds && compileServiceStream(hds, start.field('hds_config'), context);
  const at = place.field('dynamic_resources');
  const compileClusterLater: CdsPlan['compile'] = (message, itsPlace) => {
    const places = new LaterPlaces(context.discovered);
    const held = new HeldSecrets(context.live);
    const own = {
      ...{ ...context, start: undefined, viaApi: true },
      ...{ discovered: places, holdLive: held.hold },
    };
    const plan = compileCluster(message, itsPlace.reading(context.runtime), own, bind);
    if (!plan) held.release();
    return plan && { ...plan, discovered: places.all, secrets: held.all };
  };
  const cds = compileCds(dynamic, at, context, compileClusterLater);
  // As the real server: of listeners that come later only a start looks at the source.
  const lds = compileLds(dynamic, start.field('dynamic_resources'), context);
  const layers = place.field('layered_runtime').field('layers');
  const rtds = compileRtds(bootstrap, layers, context);
  const listeners = context.live.ofListeners(() =>
    compileListeners(resources, place.field('static_resources').field('listeners'), context),
  );
  const overload =
    bootstrap.overload_manager &&
    compileOverload(bootstrap.overload_manager, place.field('overload_manager'), context);
  const admin =
    bootstrap.admin &&
    compileAdmin(bootstrap.admin, place.field('admin'), context, start.field('admin'));
  const named = clusters.flatMap((plan) => plan.names ?? []);
  const hidden = context.hiddenClusters.plans;
  return {
    memoryReleaseMs: settings.memoryReleaseMs,
    update: {
      ...settings.update,
      clusters: [...clusters, ...hidden].map((plan) => plan.cluster),
      assignments: assignmentsOf([...clusters, ...hidden], context),
      route_tables: context.routes.takeTables(),
      listeners,
      connection_limit: connectionLimitOf(overload, context),
      outlier_log_path: compileOutlierLog(
        bootstrap.cluster_manager?.outlier_detection,
        place.field('cluster_manager').field('outlier_detection'),
      ),
      admin_access_logs: [...(admin?.accessLogs ?? [])],
      watchdogs: compileWatchdogs(bootstrap, place, start, context),
      name_caches: [
        ...context.names.hosts.map(({ cache }) => cache),
        ...named.flatMap((one) => (one.kind === 'clusters' ? one.clusters.cache : [])),
      ],
    },
    named,
    dnsClusters: clusters.flatMap((plan) => plan.dns ?? []),
    hiddenDns: hidden.flatMap((plan) => plan.dns ?? []),
    eds: clusters.flatMap((plan) => plan.eds ?? []),
    ...(cds && { cds }),
    ...(lds && { lds: { ...lds, staticListeners: listeners } }),
    context: { ...context, start: undefined },
    taps,
    logServices,
    jwks,
    ...(overload && { overload }),
    ...(admin && { admin }),
    runtimeReads: context.runtime,
    sinks: compileStatsSinks(bootstrap, place.field('stats_sinks'), context),
    tls: clusters.flatMap(({ cluster, sockets }) =>
      sockets.map((socket) => ({ cluster: cluster.name ?? '', socket })),
    ),
    listenerTls: sockets,
    discovered: discovered.all,
    compileClusterLater,
    issues,
    startIssues,
    ...(ads && { ads }),
    authorities,
    ...(loadReports && { loadReports }),
    ...(hdsStream && {
      healthDiscovery: {
        stream: hdsStream,
        compile: (message, one) =>
          compileCluster(message, one, { ...context, start: undefined }, bind),
      },
    }),
    rtds,
  };
}

/** How many connections all listeners and the admin server may have together. */
export const CONNECTION_LIMIT = 'overload.global_downstream_max_connections';

/** Its hosts are known before any control plane is asked: those of a file, too. */
function isPrimary({ type, eds_cluster_config: eds }: Cluster): boolean {
  if (type !== 'EDS') return true;
  const { path, path_config_source: file } = eds?.eds_config ?? {};
  return path !== undefined || file !== undefined;
}

/** The resource monitor goes before the runtime. */
function connectionLimitOf(
  overload: OverloadPlan | undefined,
  context: CompileContext,
): ConnectionLimit {
  const byRuntime = context.runtime.liveNumber(CONNECTION_LIMIT, Number.MAX_SAFE_INTEGER);
  for (const { monitor } of overload?.monitors ?? []) {
    if (monitor.kind === 'connections') return { value: monitor.max };
  }
  return byRuntime;
}

function contextOf(
  bootstrap: Bootstrap,
  options: CompileOptions,
): Omit<
  LaterContext,
  | 'secrets'
  | 'discovered'
  | 'nodeContext'
  | 'isAdsDelta'
  | 'clusterSources'
  | 'hiddenClusters'
  | 'live'
  | 'addTap'
  | 'addJwks'
  | 'addTls'
  | 'holdLive'
  | 'logServices'
> {
  const {
    cluster: serviceCluster = '',
    id: serviceNode = '',
    ...node
  } = ownNode(bootstrap.node ?? {}, options);
  const local = bootstrap.cluster_manager?.local_cluster_name;
  const runtime = new RuntimeReads(options.runtime);
  return {
    serviceCluster,
    serviceNode,
    defaultResolver: defaultResolverOf(bootstrap),
    zone: node.locality?.zone ?? '',
    ...(local && { localCluster: { name: local, locality: node.locality ?? {} } }),
    hasNode: serviceNode !== '' && serviceCluster !== '',
    ...(node.locality && { nodeLocality: node.locality }),
    nodeMetadata: node.metadata ?? {},
    hasAds: bootstrap.dynamic_resources?.ads_config !== undefined,
    reportsLoads: bootstrap.cluster_manager?.load_stats_config !== undefined,
    primaryClusters: new Set(
      (bootstrap.static_resources?.clusters ?? []).flatMap((cluster) =>
        isPrimary(cluster) ? (cluster.name ?? '') : [],
      ),
    ),
    localAddress: options.localAddress,
    clusterNames: new Set(
      (bootstrap.static_resources?.clusters ?? []).map((cluster) => cluster.name ?? ''),
    ),
    grpcClusters: new ControlClusters(),
    authorities: new Authorities(bootstrap, () => runtime.flag(ARE_USED, false)),
    runtime,
    extensions: options.extensions,
    routes: new RouteSlots(),
    tracers: new TracerPlans(),
    tagNames: TagNames.in(bootstrap.static_resources?.listeners),
    names: new NamePlans(),
    checkTls: options.checkTls,
    hasCoding: options.hasCoding,
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
  checkLocalCluster(manager.local_cluster_name, place.field('local_cluster_name'), context);
  const config = manager.upstream_bind_config;
  return config && { config, place: place.field('upstream_bind_config') };
}

/** Where listeners come from that are not in the bootstrap. `place`: of dynamic_resources. */
function compileLds(
  { lds_config: message, lds_resources_locator: locator = '' }: DynamicResources,
  place: Place,
  context: LaterContext,
): Collected | undefined {
  const type = 'envoy.config.listener.v3.Listener';
  const at = place.field('lds_config');
  if (locator !== '') {
    const where = place.field('lds_resources_locator');
    return compileCollection(locator, type, where, { message, place: at }, context);
  }
  const source = compileConfigSource(message, type, at, context);
  return source && { source };
}

/** As compileLds. */
function compileCds(
  { cds_config: message, cds_resources_locator: locator = '' }: DynamicResources,
  place: Place,
  context: LaterContext,
  compile: CdsPlan['compile'],
): CdsPlan | undefined {
  const type = 'envoy.config.cluster.v3.Cluster';
  const at = place.field('cds_config');
  const where = place.field('cds_resources_locator');
  const source = locator === '' ? compileConfigSource(message, type, at, context) : undefined;
  const collected =
    locator === ''
      ? source && { source }
      : compileCollection(locator, type, where, { message, place: at }, context);
  return (
    collected && {
      ...collected,
      staticClusters: [...context.clusterNames],
      compile,
    }
  );
}
