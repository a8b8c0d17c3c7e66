// Forwarding routes: to which cluster, and what changes on the way.
import type {
  envoy_config_core_v3_Metadata as Metadata,
  envoy_config_core_v3_TypedExtensionConfig as TypedExtension,
  envoy_config_route_v3_RouteAction as RouteAction,
  envoy_config_route_v3_RouteAction_MaxStreamDuration as MaxStreamDuration,
  envoy_config_route_v3_WeightedCluster as WeightedCluster,
  envoy_config_route_v3_WeightedCluster_ClusterWeight as ClusterWeight,
  envoy_extensions_path_match_uri_template_v3_UriTemplateMatchConfig as UriTemplate,
  envoy_extensions_path_rewrite_uri_template_v3_UriTemplateRewriteConfig as UriRewrite,
} from '../../../build/messages.gen.js';
import { compileTextFormat } from '../format/text-format.js';
import { unregistered } from '../known-extensions.js';
import { compileTemplateRewrite, URI_REWRITE, URI_TEMPLATE } from '../match/uri-template.js';
import { compileInternalRedirect } from './internal-redirect.js';
import { compileHeaderMutations } from './header-mutations.js';
import { compileRegexRewrite, requestHeaderName } from '../match/matchers.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import {
  ClusterAction_NotFound,
  HostRewrite_Kind,
  PathRewrite_Kind,
  type ClusterAction,
  type HostRewrite,
  type PathRewrite,
  type WeightedCluster as WeightedClusterPlan,
  type WeightedClusters,
} from '../plan.gen.js';
import { compilePathRewrite } from './redirect.js';
import { checkCluster } from './route-clusters.js';
import { compileMirrors } from './mirrors.js';
import { compileHedging, compileRetries } from './retry-policy.js';
import { compileRouteFilters, compileTryFilters, readFilterOverrides } from './route-filters.js';
import type { RouteScope } from './route-scope.js';
import { compileRouteUpgrades } from './upgrades.js';
import { compileMetadataMatch } from './metadata-match.js';
import { compileClusterTree } from './cluster-tree.js';
import { compileHashPolicies } from './hash-policies.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

const ACTION = supportedFields<RouteAction>('envoy.config.route.v3.RouteAction', [
  'cluster',
  'cluster_header',
  'weighted_clusters',
  'cluster_not_found_response_code',
  'prefix_rewrite',
  'regex_rewrite',
  'host_rewrite_literal',
  'auto_host_rewrite',
  'host_rewrite_header',
  'host_rewrite_path_regex',
  'append_x_forwarded_host',
  'timeout',
  'idle_timeout',
  'flush_timeout',
  'priority',
  'max_stream_duration',
  'max_grpc_timeout',
  'grpc_timeout_offset',
  'retry_policy',
  'retry_policy_typed_config',
  'hedge_policy',
  'hash_policy',
  'metadata_match',
  'request_mirror_policies',
  'cors',
  'rate_limits',
  'include_vh_rate_limits',
  'upgrade_configs',
  'internal_redirect_action',
  'internal_redirect_policy',
  'max_internal_redirects',
  'path_rewrite_policy',
  'path_rewrite',
  'host_rewrite',
  'early_data_policy',
  'inline_cluster_specifier_plugin',
  'cluster_specifier_plugin',
]);
const STREAM_DURATION = supportedFields<MaxStreamDuration>(
  'envoy.config.route.v3.RouteAction.MaxStreamDuration',
  ['max_stream_duration', 'grpc_timeout_header_max', 'grpc_timeout_header_offset'],
);
// The old total is not asked for any more: what the weights add up to counts.
const WEIGHTED = supportedFields<WeightedCluster>('envoy.config.route.v3.WeightedCluster', [
  'clusters',
  'total_weight',
  'runtime_key_prefix',
  'header_name',
  'use_hash_policy',
]);
const WEIGHT = supportedFields<ClusterWeight>(
  'envoy.config.route.v3.WeightedCluster.ClusterWeight',
  [
    'name',
    'cluster_header',
    'weight',
    'request_headers_to_add',
    'request_headers_to_remove',
    'response_headers_to_add',
    'response_headers_to_remove',
    'host_rewrite_literal',
    'metadata_match',
    'typed_per_filter_config',
  ],
);

const EARLY_DATA = 'envoy.extensions.early_data.v3.DefaultEarlyDataPolicy';
const DEFAULT_TIMEOUT_MS = 15_000;
const MAX_TOTAL_WEIGHT = 0xffff_ffff;

/** `pathPolicy`: of the route's match. */
export function compileClusterAction(
  message: RouteAction,
  pathPolicy: TypedExtension | undefined,
  place: Place,
  scope: RouteScope,
): ClusterAction {
  refuseOtherFields(place, message, ACTION);
  checkEarlyData(message.early_data_policy, place.field('early_data_policy'));
  const rewrites = [
    message.prefix_rewrite,
    message.regex_rewrite,
    message.path_rewrite_policy,
    message.path_rewrite,
  ];
  if (rewrites.filter(Boolean).length > 1) {
    place.error('Specify only one of prefix_rewrite, regex_rewrite or path_rewrite_policy');
  }
  const specifier = message.cluster_specifier_plugin;
  if (specifier !== undefined && !scope.clusterTrees.has(specifier)) {
    place
      .field('cluster_specifier_plugin')
      .error(`Unknown cluster specifier plugin name: ${specifier} is used in the route`);
  }
  if (message.cluster) checkCluster(message.cluster, 'cluster', place.field('cluster'), scope);
  const duration = message.max_stream_duration;
  if (duration) refuseOtherFields(place.field('max_stream_duration'), duration, STREAM_DURATION);
  const weighted = message.weighted_clusters;
  const mirrorsAt = place.field('request_mirror_policies');
  const mirrors =
    compileMirrors(message.request_mirror_policies, mirrorsAt, scope) ?? scope.defaults.mirrors;
  return {
    cluster: message.cluster,
    cluster_header: message.cluster_header && requestHeaderName(message.cluster_header),
    weighted: weighted && compileWeighted(message, place.field('weighted_clusters'), scope),
    metadata_match: compileMetadataMatch(message.metadata_match),
    not_found:
      ClusterAction_NotFound[message.cluster_not_found_response_code ?? 'SERVICE_UNAVAILABLE'],
    // The newer way to say it is in place of the older.
    timeout_ms: duration ? 0 : wholeMs(message.timeout, DEFAULT_TIMEOUT_MS),
    idle_timeout_ms:
      message.idle_timeout === undefined ? undefined : wholeMs(message.idle_timeout, 0),
    flush_timeout_ms:
      message.flush_timeout === undefined ? undefined : wholeMs(message.flush_timeout, 0),
    max_stream_duration_ms:
      duration?.max_stream_duration === undefined
        ? undefined
        : wholeMs(duration.max_stream_duration, 0),
    ...(specifier !== undefined && scope.clusterTrees.get(specifier)),
    ...(message.inline_cluster_specifier_plugin && {
      ...compileClusterTree(
        message.inline_cluster_specifier_plugin,
        place.field('inline_cluster_specifier_plugin'),
        scope.context,
      ),
    }),
    upgrades: compileRouteUpgrades(
      message.upgrade_configs,
      place.field('upgrade_configs'),
      scope.context,
    ),
    ...compileGrpcTimeouts(message),
    path_rewrite:
      compilePathPolicy(message.path_rewrite_policy, pathPolicy, place) ??
      compilePathRewrite(message, place),
    internal_redirect: compileInternalRedirect(message, place),
    host_rewrite: compileHostRewrite(message, place),
    priority: message.priority === 'HIGH' ? 1 : 0,
    retry: compileRetries(message, place, scope.context) ?? scope.defaults.retry,
    mirrors: mirrors?.forRoute(),
    hash_policies: compileHashPolicies(message.hash_policy, place.field('hash_policy')),
    hedge_on_per_try_timeout:
      compileHedging(message.hedge_policy, place.field('hedge_policy')) ??
      scope.defaults.hedgesOnTimeout,
  };
}

function compileGrpcTimeouts(message: RouteAction): Partial<ClusterAction> {
  const duration = message.max_stream_duration;
  if (!duration) {
    return {
      grpc_route_timeout_max_ms: optionalMs(message.max_grpc_timeout),
      grpc_route_timeout_offset_ms: optionalMs(message.grpc_timeout_offset),
    };
  }
  return {
    grpc_timeout_max_ms: optionalMs(duration.grpc_timeout_header_max),
    grpc_timeout_offset_ms: optionalMs(duration.grpc_timeout_header_offset),
  };
}

function optionalMs(durationMs: number | undefined): number | undefined {
  return durationMs === undefined ? undefined : wholeMs(durationMs, 0);
}

function compileWeighted(
  { weighted_clusters: message = {}, metadata_match: match }: RouteAction,
  place: Place,
  scope: RouteScope,
): WeightedClusters {
  refuseOtherFields(place, message, WEIGHTED);
  const prefix = message.runtime_key_prefix;
  const clusters = (message.clusters ?? []).map((cluster, index) =>
    compileWeight(cluster, prefix, match, place.field('clusters').index(index), scope),
  );
  const total = clusters.reduce((sum, cluster) => sum + (cluster.weight ?? 0), 0);
  if (total === 0) place.error('Sum of weights in the weighted_cluster must be greater than 0.');
  if (total > MAX_TOTAL_WEIGHT) {
    place.error(`The sum of weights of all weighted clusters of route exceeds ${MAX_TOTAL_WEIGHT}`);
  }
  return {
    clusters,
    header_name: message.header_name && requestHeaderName(message.header_name),
    by_hash: message.use_hash_policy,
  };
}

function compileWeight(
  message: ClusterWeight,
  runtimePrefix: string | undefined,
  match: Metadata | undefined,
  place: Place,
  scope: RouteScope,
): WeightedClusterPlan {
  refuseOtherFields(place, message, WEIGHT);
  if (message.name && message.cluster_header)
    place.error('Only one of name or cluster_header can be specified');
  if (!message.name && !message.cluster_header) {
    place.error('At least one of name or cluster_header need to be specified');
  }
  if (message.weight === undefined)
    place.error('weight is necessary', { expected: 'weight, which may be 0' });
  if (message.name) checkCluster(message.name, 'weighted cluster', place.field('name'), scope);
  const key = runtimePrefix ? `${runtimePrefix}.${message.name ?? ''}` : undefined;
  const { value: weight, slot } = scope.context.runtime.liveNumber(key, message.weight ?? 0);
  const filters = readFilterOverrides(message.typed_per_filter_config, place, scope);
  return {
    name: message.name,
    cluster_header: message.cluster_header && requestHeaderName(message.cluster_header),
    weight,
    weight_slot: slot,
    mutations: compileHeaderMutations(message, place),
    host_rewrite_literal: message.host_rewrite_literal,
    metadata_match: message.metadata_match && compileMetadataMatch(match, message.metadata_match),
    filters:
      filters.byName.size > 0
        ? compileRouteFilters([...scope.filterOverrides, filters], scope.chain)
        : [],
    try_filters:
      filters.byName.size > 0 ? compileTryFilters([...scope.filterOverrides, filters]) : [],
  };
}

// Which requests may go to a host with the first bytes of QUIC, which is spoken with none.
function checkEarlyData(policy: TypedExtension | undefined, place: Place): void {
  const type = policy?.typed_config?.$type;
  if (!policy || type === EARLY_DATA) return;
  place
    .field('typed_config')
    .error(unregistered(policy.name ?? '', type ?? ''), { expected: EARLY_DATA });
}

/** A template, as there is no other kind. */
function compilePathPolicy(
  policy: TypedExtension | undefined,
  match: TypedExtension | undefined,
  place: Place,
): PathRewrite | undefined {
  if (!policy) return undefined;
  const config = policy.typed_config;
  const at = place.field('path_rewrite_policy').field('typed_config');
  if (config?.$type !== URI_REWRITE) {
    at.error(unregistered(policy.name ?? '', config?.$type ?? ''), { expected: URI_REWRITE });
    return undefined;
  }
  if (match?.typed_config?.$type !== URI_TEMPLATE) {
    at.error(
      'unable to use envoy.path.rewrite.uri_template.uri_template_rewriter extension without envoy.path.match.uri_template.uri_template_matcher extension',
    );
    return undefined;
  }
  const regex = compileTemplateRewrite(
    config as UriRewrite,
    match.typed_config as UriTemplate,
    at.within(URI_REWRITE),
  );
  return regex && { kind: PathRewrite_Kind.REGEX, regex };
}

function compileHostRewrite(message: RouteAction, place: Place): HostRewrite | undefined {
  const append = { append_x_forwarded_host: message.append_x_forwarded_host };
  if (message.host_rewrite_literal) {
    return { kind: HostRewrite_Kind.LITERAL, value: message.host_rewrite_literal, ...append };
  }
  if (message.host_rewrite_header) {
    const value = requestHeaderName(message.host_rewrite_header);
    return { kind: HostRewrite_Kind.HEADER, value, ...append };
  }
  if (message.host_rewrite) {
    const format = compileTextFormat(message.host_rewrite, place.field('host_rewrite'));
    return format && { kind: HostRewrite_Kind.FORMAT, format, ...append };
  }
  if (message.auto_host_rewrite) return { kind: HostRewrite_Kind.AUTO, ...append };
  if (message.host_rewrite_path_regex) {
    const at = place.field('host_rewrite_path_regex');
    const regex = compileRegexRewrite(message.host_rewrite_path_regex, at);
    return regex && { kind: HostRewrite_Kind.PATH_REGEX, regex, ...append };
  }
  return message.append_x_forwarded_host ? { kind: HostRewrite_Kind.NONE, ...append } : undefined;
}
