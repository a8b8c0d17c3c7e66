// Clusters: everything a worker needs of them, and where their hosts come from.
import type {
  envoy_config_cluster_v3_Cluster as ClusterMessage,
  envoy_config_cluster_v3_Cluster_CommonLbConfig as CommonLbConfig,
  envoy_config_cluster_v3_TrackClusterStats as TrackedStats,
  envoy_config_cluster_v3_UpstreamConnectionOptions as ConnectionOptions,
  envoy_config_core_v3_BindConfig as BindConfig,
  envoy_config_core_v3_HealthStatus as HealthStatus,
  envoy_config_core_v3_HealthStatusSet as HealthStatusSet,
  envoy_config_core_v3_TcpKeepalive as TcpKeepalive,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import { grpcCluster } from '../service-plan.js';
import { compileAggregate } from './aggregate.js';
import type { ClusterPlan } from './cluster-plan.js';
import { compileBalancer } from './balancer.js';
import { compileBind } from './bind-config.js';
import { compileLimits } from './circuit-limits.js';
import { resolveClusterType } from './cluster-type.js';
import { findHttpOptions } from './find-http-options.js';
import { compileHealthCheck } from './health-check.js';
import { compileForwardProxy } from './forward-proxy.js';
import { compileStatsChoice } from '../stats-choice.js';
import { grpcHttp2 } from './grpc-http2.js';
import { compileUpstreamHttp } from './http-options.js';
import { compileHttp2Options } from '../http2-options.js';
import { compilePreconnect } from './preconnect.js';
import type { BalancerPlan } from '../extension-plans.js';
import { wholeMs, wholePercent } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { Cluster_Protocol as Protocol, type Cluster } from '../plan.gen.js';
import { compileOutlierDetection } from './outlier-detection.js';
import { metadataOf } from '../format/metadata-values.js';
import { compileSocketMatches, demandAlpn, reachedBy } from './socket-matches.js';
import { compileSocketTree } from './socket-tree.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { compileUpstreamSocket } from './upstream-socket.js';
import { compileHostSource } from './host-source.js';
import { checkQueuingPolicies, checkUpstreamPool } from './upstream-pool.js';

// How often hosts are cleaned up only counts for those of ORIGINAL_DST. Metadata is read where it is
// asked for.
const CLUSTER = supportedFields<ClusterMessage>('envoy.config.cluster.v3.Cluster', [
  'name',
  'alt_stat_name',
  'type',
  'connect_timeout',
  'per_connection_buffer_limit_bytes',
  'lb_policy',
  'round_robin_lb_config',
  'least_request_lb_config',
  'ring_hash_lb_config',
  'maglev_lb_config',
  'lb_subset_config',
  'load_balancing_policy',
  'load_assignment',
  'max_requests_per_connection',
  'circuit_breakers',
  'outlier_detection',
  'common_lb_config',
  'common_http_protocol_options',
  'http_protocol_options',
  'http2_protocol_options',
  'protocol_selection',
  'upstream_http_protocol_options',
  'typed_extension_protocol_options',
  'eds_cluster_config',
  'original_dst_lb_config',
  'dns_refresh_rate',
  'dns_failure_refresh_rate',
  'respect_dns_ttl',
  'dns_jitter',
  'dns_lookup_family',
  'dns_resolvers',
  'dns_resolution_config',
  'typed_dns_resolver_config',
  'use_tcp_for_dns_lookups',
  'wait_for_warm_on_init',
  'cleanup_interval',
  'ignore_health_on_host_removal',
  'health_checks',
  'upstream_bind_config',
  'upstream_config',
  'upstream_connection_options',
  'preconnect_policy',
  'transport_socket',
  'transport_socket_matches',
  'transport_socket_matcher',
  'connection_pool_per_downstream_connection',
  'close_connections_on_host_health_failure',
  'track_timeout_budgets',
  'track_cluster_stats',
  'metadata',
  // Load is reported to the bootstrap's service, in the real server as well.
  'lrs_server',
  'lrs_report_endpoint_metrics',
  'per_connection_buffer_high_watermark_timeout',
  'stats_matcher',
  'queuing_policies',
]);
const TRACKED = supportedFields<TrackedStats>('envoy.config.cluster.v3.TrackClusterStats', [
  'timeout_budgets',
  'request_response_sizes',
  'per_endpoint_stats',
]);
const COMMON_LB = supportedFields<CommonLbConfig>(
  'envoy.config.cluster.v3.Cluster.CommonLbConfig',
  [
    'healthy_panic_threshold',
    'zone_aware_lb_config',
    'locality_weighted_lb_config',
    'consistent_hashing_lb_config',
    'update_merge_window',
    'ignore_new_hosts_until_first_hc',
    'close_connections_on_host_set_change',
    'override_host_status',
  ],
);
const CONNECTION = supportedFields<ConnectionOptions>(
  'envoy.config.cluster.v3.UpstreamConnectionOptions',
  ['tcp_keepalive', 'happy_eyeballs_config', 'set_local_interface_name_on_upstream_connections'],
);

const KEEPALIVE = supportedFields<TcpKeepalive>('envoy.config.core.v3.TcpKeepalive', [
  'keepalive_probes',
  'keepalive_time',
  'keepalive_interval',
]);

/** Whom names are asked for, and who must answer for them, where nothing else is said. */
const CHECKED_NAMES = { auto_sni: true, auto_san_validation: true } as const;
const DEFAULT_CONNECT_TIMEOUT_MS = 5000;
const DEFAULT_BUFFER_LIMIT_BYTES = 1024 * 1024;
const DEFAULT_PANIC_PCT = 50;
const DEFAULT_MERGE_WINDOW_MS = 1000;

export type { ClusterPlan } from './cluster-plan.js';

/** An upstream_bind_config. */
export interface DefaultBind {
  readonly config: BindConfig;
  readonly place: Place;
}

/** `defaultBind`: the cluster manager's upstream_bind_config. Undefined after some errors. */
export function compileCluster(
  configured: ClusterMessage,
  place: Place,
  context: CompileContext,
  defaultBind?: DefaultBind,
): ClusterPlan | undefined {
  const typed = resolveClusterType(configured, place);
  const { message } = typed;
  refuseOtherFields(place, message, CLUSTER);
  if (message.lrs_server) {
    place
      .field('lrs_server')
      .warn('has no effect: loads are reported to load_stats_config’s service');
  }
  const isProvided = typed.aggregate !== undefined || typed.forwardProxy !== undefined;
  const balancer = compileBalancer(message, place, context, isProvided);
  checkUpstreamPool(message.upstream_config, place.field('upstream_config'));
  checkQueuingPolicies(message.queuing_policies, place.field('queuing_policies'));
  const socket = compileUpstreamSocket(
    message.transport_socket,
    place.field('transport_socket'),
    context,
  );
  const matches = compileSocketMatches(message, place, context);
  const tree =
    message.transport_socket_matcher &&
    compileSocketTree(
      message.transport_socket_matcher,
      matches.map(({ plan }) => plan.name ?? ''),
      place.field('transport_socket_matcher'),
    );
  const happyEyeballs = message.upstream_connection_options?.happy_eyeballs_config;
  const options = findHttpOptions(message, place, context);
  const proxied =
    typed.forwardProxy &&
    compileForwardProxy(typed.forwardProxy, configured, place, context, {
      isTls: socket?.tls !== undefined,
      http: options,
      compile: (one) => compileCluster(one, place, context, defaultBind),
    });
  const members = typed.aggregate && compileAggregate(typed.aggregate, message, place);
  const source = compileHostSource(typed, place, context, {
    inputs: tree?.inputs ?? [],
    tagNames: context.tagNames,
    ...(happyEyeballs && { happyEyeballs }),
    ...(message.name && message.name === context.localCluster?.name && { localName: message.name }),
  });
  const common = message.common_lb_config ?? {};
  refuseOtherFields(place.field('common_lb_config'), common, COMMON_LB);
  const panic = context.runtime.liveNumber(
    'upstream.healthy_panic_threshold',
    wholePercent(common.healthy_panic_threshold, DEFAULT_PANIC_PCT),
  );
  const bind = message.upstream_bind_config
    ? { config: message.upstream_bind_config, place: place.field('upstream_bind_config') }
    : defaultBind;
  const http = compileUpstreamHttp(
    typed.forwardProxy && !options.sni ? { ...options, sni: CHECKED_NAMES } : options,
  );
  if (
    message.max_requests_per_connection !== undefined &&
    options.common?.max_requests_per_connection !== undefined
  ) {
    place
      .field('max_requests_per_connection')
      .error(
        'Only one of max_requests_per_connection from Cluster or HttpProtocolOptions can be specified',
      );
  }
  const http2 = options.http2 && compileHttp2Options(options.http2, options.http2Place);
  const healthCheck = compileHealthCheck(message, place, {
    protocol: options.protocol,
    http2,
    isTls: socket?.tls !== undefined && matches.every(({ plan }) => plan.tls),
  });
  if (options.protocol === Protocol.BY_ALPN) demandAlpn(message, socket, matches, place);
  const tracked = message.track_cluster_stats ?? {};
  refuseOtherFields(place.field('track_cluster_stats'), tracked, TRACKED);
  if (tracked.per_endpoint_stats && context.reportsLoads) {
    place.error(
      'Only one of cluster per_endpoint_stats and cluster manager load_stats_config can be specified',
    );
  }
  const cluster: Cluster = {
    name: message.name,
    observability_name: message.alt_stat_name || message.name,
    added_via_api: context.viaApi ?? false,
    connect_timeout_ms: wholeMs(message.connect_timeout, DEFAULT_CONNECT_TIMEOUT_MS),
    per_connection_buffer_limit_bytes:
      message.per_connection_buffer_limit_bytes ?? DEFAULT_BUFFER_LIMIT_BYTES,
    ...balancerOf(balancer),
    ...(balancer?.load_questions && {
      load_questions: {
        ...balancer.load_questions,
        http2: http2 ?? compileHttp2Options({}, options.http2Place),
      },
    }),
    panic_threshold_pct: panic.value,
    panic_threshold_slot: panic.slot,
    is_local: message.name !== undefined && message.name === context.localCluster?.name,
    limits: compileLimits(message.circuit_breakers ?? {}, place.field('circuit_breakers')),
    ...http,
    max_requests_per_connection:
      http.max_requests_per_connection || (message.max_requests_per_connection ?? 0),
    destination_hosts: source?.destinations,
    ...(members && { members: [...members] }),
    ...(proxied && { named_hosts: proxied.hosts }),
    is_resolved: source?.dns !== undefined,
    is_discovered: source?.eds !== undefined,
    ...compileKeepalive(
      message.upstream_connection_options ?? {},
      place.field('upstream_connection_options'),
    ),
    sources: bind ? compileBind(bind.config, bind.place, message.name ?? '') : [],
    ...compilePreconnect(message.preconnect_policy ?? {}, place.field('preconnect_policy')),
    protocol: options.protocol,
    request_rules: balancer?.hashPolicies
      ? { ...options.rules, hash_policies: balancer.hashPolicies }
      : options.rules,
    ...(http2 && { http2 }),
    ...(socket && reachedBy(socket, message.metadata)),
    transport_matches: matches.map(({ plan }) => plan),
    ...(healthCheck && { health_check: healthCheck }),
    keeps_well_hosts: message.ignore_health_on_host_removal !== true,
    excludes_unchecked: common.ignore_new_hosts_until_first_hc,
    outlier_detection: compileOutlierDetection(
      message.outlier_detection,
      place.field('outlier_detection'),
      context,
    ),
    ...(tree && { transport_tree: tree.tree }),
    pools_by_client: message.connection_pool_per_downstream_connection,
    buffer_high_watermark_timeout_ms: wholeMs(
      message.per_connection_buffer_high_watermark_timeout,
      0,
    ),
    ...compileStatsChoice(message.stats_matcher, place.field('stats_matcher')),
    closes_with_health: message.close_connections_on_host_health_failure,
    tracks_timeout_budgets: message.track_timeout_budgets || tracked.timeout_budgets,
    tracks_sizes: tracked.request_response_sizes,
    tracks_endpoints: tracked.per_endpoint_stats,
    reported_metrics: message.lrs_report_endpoint_metrics,
    drains_on_host_change: common.close_connections_on_host_set_change,
    update_merge_window_ms: wholeMs(common.update_merge_window, DEFAULT_MERGE_WINDOW_MS),
    tag_metadata: context.tagNames.metadataOf('cluster', message.metadata),
    ...metadataOf(message.metadata),
    override_statuses: overrideStatuses(common.override_host_status),
    // Of one that comes later, until it is known.
    awaits_hosts: false,
  };
  const control =
    socket &&
    grpcCluster(cluster, {
      http2: options.http2 && http2 && grpcHttp2(options.http2, http2),
      tls: socket.tls?.control,
    });
  const sockets = [
    ...(socket?.tls ? [socket.tls] : []),
    ...matches.flatMap(({ socket: one }) => one ?? []),
  ];
  if (isProvided && !members && !proxied) return undefined;
  return (
    source &&
    balancer &&
    control && { cluster, control, ...source, sockets, ...(proxied && { names: proxied.names }) }
  );
}

function balancerOf(plan: BalancerPlan | undefined): Partial<Cluster> {
  const { hashPolicies: _, ...rest } = plan ?? {};
  return rest;
}

function compileKeepalive(options: ConnectionOptions, place: Place): Partial<Cluster> {
  refuseOtherFields(place, options, CONNECTION);
  if (options.set_local_interface_name_on_upstream_connections) {
    place
      .field('set_local_interface_name_on_upstream_connections')
      .warn('has no effect: nothing here shows the name of an interface');
  }
  const keepalive = options.tcp_keepalive;
  if (!keepalive) return {};
  refuseOtherFields(place.field('tcp_keepalive'), keepalive, KEEPALIVE);
  const {
    keepalive_probes: probes,
    keepalive_time: time,
    keepalive_interval: interval,
  } = keepalive;
  // Any of them switches it off so.
  if (probes === 0 || time === 0 || interval === 0) return {};
  return {
    tcp_keepalive: true,
    keepalive_probes: probes,
    keepalive_time_s: time,
    keepalive_interval_s: interval,
  };
}

const STATUSES: readonly HealthStatus[] = [
  'UNKNOWN',
  'HEALTHY',
  'UNHEALTHY',
  'DRAINING',
  'TIMEOUT',
  'DEGRADED',
];

/** Hosts of these may be asked for by name, as bits. */
function overrideStatuses(set: HealthStatusSet | undefined): number {
  const statuses: readonly HealthStatus[] = set
    ? (set.statuses ?? [])
    : ['UNKNOWN', 'HEALTHY', 'DEGRADED'];
  return statuses.reduce((bits, status) => bits | (1 << STATUSES.indexOf(status)), 0);
}
