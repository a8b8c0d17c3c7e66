// envoy.filters.network.tcp_proxy
import type {
  envoy_extensions_filters_network_tcp_proxy_v3_TcpProxy as TcpProxyConfig,
  envoy_config_core_v3_BackoffStrategy as BackoffStrategy,
  envoy_extensions_filters_network_tcp_proxy_v3_TcpProxy_OnDemand as OnDemand,
  envoy_extensions_filters_network_tcp_proxy_v3_TcpProxy_WeightedCluster as WeightedCluster,
  envoy_extensions_filters_network_tcp_proxy_v3_TcpProxy_WeightedCluster_ClusterWeight as ClusterWeight,
  envoy_type_v3_HashPolicy as HashPolicy,
} from '../../../build/messages.gen.js';
import { compileAccessLogs } from '../../plan/access-log/access-log.js';
import { type CompileContext, defineExtension } from '../../plan/extension.js';
import type { NetworkFilterPlan } from '../../plan/extension-plans.js';
import { nearestName } from '../../base/suggest.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import { compileConfigSource } from '../../plan/config-source.js';
import { compileTlvs } from '../../plan/proxy-protocol.js';
import { compileMetadataMatch } from '../../plan/route/metadata-match.js';
import {
  TcpProxy_ConnectMode,
  TcpProxy_TlvMerge,
  type TcpProxy,
  type WeightedTarget,
} from '../../plan/plan.gen.js';
import { compileTunneling } from '../../plan/tunneling.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const TYPE = 'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy';
const FIELDS = supportedFields<TcpProxyConfig>(TYPE, [
  'stat_prefix',
  'cluster',
  'weighted_clusters',
  'metadata_match',
  'hash_policy',
  'idle_timeout',
  'access_log',
  'max_connect_attempts',
  'max_downstream_connection_duration',
  'tunneling_config',
  'access_log_flush_interval',
  'flush_access_log_on_connected',
  'access_log_options',
  'downstream_idle_timeout',
  'upstream_idle_timeout',
  'backoff_options',
  'upstream_connect_mode',
  'max_early_data_bytes',
  'check_drain_close',
  'proxy_protocol_tlvs',
  'proxy_protocol_tlv_merge_policy',
  'max_downstream_connection_duration_jitter_percentage',
  'on_demand',
]);
const BACKOFF = supportedFields<BackoffStrategy>('envoy.config.core.v3.BackoffStrategy', [
  'base_interval',
  'max_interval',
]);
const ON_DEMAND = supportedFields<OnDemand>(`${TYPE}.OnDemand`, ['odcds_config', 'timeout']);
const LOG_OPTIONS = supportedFields<NonNullable<TcpProxyConfig['access_log_options']>>(
  `${TYPE}.TcpAccessLogOptions`,
  ['access_log_flush_interval', 'flush_access_log_on_connected', 'flush_access_log_on_start'],
);
const WEIGHTED = supportedFields<WeightedCluster>(`${TYPE}.WeightedCluster`, ['clusters']);
const WEIGHT = supportedFields<ClusterWeight>(`${TYPE}.WeightedCluster.ClusterWeight`, [
  'name',
  'weight',
  'metadata_match',
]);
const HASH = supportedFields<HashPolicy>('envoy.type.v3.HashPolicy', ['source_ip', 'filter_state']);

const DEFAULT_IDLE_TIMEOUT_MS = 3_600_000;
const DEFAULT_DEMAND_TIMEOUT_MS = 60_000;
const CONNECT_MODES = {
  IMMEDIATE: TcpProxy_ConnectMode.IMMEDIATE,
  ON_DOWNSTREAM_DATA: TcpProxy_ConnectMode.ON_DATA,
  ON_DOWNSTREAM_TLS_HANDSHAKE: TcpProxy_ConnectMode.ON_HANDSHAKE,
} as const;
const MERGES = {
  ADD_IF_ABSENT: TcpProxy_TlvMerge.ADD_IF_ABSENT,
  OVERWRITE_BY_TYPE_IF_EXISTS_OR_ADD: TcpProxy_TlvMerge.OVERWRITE,
  APPEND_IF_EXISTS_OR_ADD: TcpProxy_TlvMerge.APPEND,
} as const;

export const tcpProxy = defineExtension<TcpProxyConfig, NetworkFilterPlan>({
  name: 'envoy.filters.network.tcp_proxy',
  type: TYPE,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const clusters = compileTargets(config, place, context);
    return {
      tcp: {
        stat_prefix: config.stat_prefix,
        clusters,
        total_weight: clusters.reduce((sum, target) => sum + (target.weight ?? 0), 0),
        idle_timeout_ms: wholeMs(config.idle_timeout, DEFAULT_IDLE_TIMEOUT_MS),
        max_connect_attempts: config.max_connect_attempts ?? 1,
        max_downstream_connection_duration_ms: wholeMs(
          config.max_downstream_connection_duration,
          0,
        ),
        max_downstream_connection_duration_jitter: Math.round(
          (config.max_downstream_connection_duration_jitter_percentage?.value ?? 0) * 100,
        ),
        ...compileConnecting(config, place),
        checks_drain: config.check_drain_close,
        proxy_tlvs: compileTlvs(
          config.proxy_protocol_tlvs,
          place.field('proxy_protocol_tlvs'),
          context,
        ),
        proxy_tlv_merge: MERGES[config.proxy_protocol_tlv_merge_policy ?? 'ADD_IF_ABSENT'],
        ...compileOnDemand(config.on_demand, place.field('on_demand'), context),
        ...compileHash(config, place.field('hash_policy')),
        tunneling: compileTunneling(
          config.tunneling_config,
          place.field('tunneling_config'),
          context,
        ),
        ...compileLogOptions(config, place),
        access_logs: compileAccessLogs(
          config.access_log,
          'tcp_log',
          place.field('access_log'),
          context,
        ),
      },
    };
  },
});

/** When a host is connected to, and how often it is tried. */
function compileConnecting(config: TcpProxyConfig, place: Place): Partial<TcpProxy> {
  for (const name of ['downstream_idle_timeout', 'upstream_idle_timeout'] as const) {
    if (config[name] !== undefined) {
      place.field(name).warn('has no effect, as in the real server', { expected: 'idle_timeout' });
    }
  }
  const { backoff_options: backoff, upstream_connect_mode: mode = 'IMMEDIATE' } = config;
  if (mode !== 'IMMEDIATE' && config.max_early_data_bytes === undefined) {
    place
      .field('upstream_connect_mode')
      .error('max_early_data_bytes must be set when upstream_connect_mode is not IMMEDIATE');
  }
  const connecting: Partial<TcpProxy> = {
    connect_mode: CONNECT_MODES[mode],
    max_early_data_bytes: config.max_early_data_bytes,
  };
  if (!backoff) return connecting;
  const at = place.field('backoff_options');
  refuseOtherFields(at, backoff, BACKOFF);
  const baseMs = wholeMs(backoff.base_interval, 0);
  const maxMs = wholeMs(backoff.max_interval, baseMs * 10);
  if (maxMs < baseMs) {
    at.field('max_interval').error(
      'max_backoff_interval must be greater or equal to base_backoff_interval',
    );
  }
  return { ...connecting, backoff_base_ms: baseMs, backoff_max_ms: maxMs };
}

/** Where a cluster that is not there is asked for. */
function compileOnDemand(
  config: OnDemand | undefined,
  place: Place,
  context: CompileContext,
): Pick<TcpProxy, 'on_demand'> {
  if (!config?.odcds_config) return {};
  refuseOtherFields(place, config, ON_DEMAND);
  const type = 'envoy.config.cluster.v3.Cluster';
  const source = compileConfigSource(
    config.odcds_config,
    type,
    place.field('odcds_config'),
    context,
  );
  if (!source) return {};
  return {
    on_demand: {
      source: context.clusterSources.add({ source }),
      timeout_ms: wholeMs(config.timeout, DEFAULT_DEMAND_TIMEOUT_MS),
    },
  };
}

/** Older fields say the same, where the newer one does not. */
function compileLogOptions(config: TcpProxyConfig, place: Place): Partial<TcpProxy> {
  const options = config.access_log_options;
  if (options) {
    const at = place.field('access_log_options');
    refuseOtherFields(at, options, LOG_OPTIONS);
    for (const older of ['flush_access_log_on_connected', 'access_log_flush_interval'] as const) {
      if (config[older] !== undefined && config[older] !== false) {
        place.field(older).error(`Only one of ${older} or access_log_options can be specified.`);
      }
    }
  }
  return {
    logs_start: options?.flush_access_log_on_start,
    logs_connected: options?.flush_access_log_on_connected ?? config.flush_access_log_on_connected,
    log_interval_ms: wholeMs(
      options ? options.access_log_flush_interval : config.access_log_flush_interval,
      0,
    ),
  };
}

function compileTargets(
  config: TcpProxyConfig,
  place: Place,
  context: CompileContext,
): WeightedTarget[] {
  const weighted = config.weighted_clusters;
  if (!weighted) {
    const cluster = config.cluster ?? '';
    checkCluster(cluster, place.field('cluster'), context);
    return [{ cluster, weight: 1, metadata_match: compileMetadataMatch(config.metadata_match) }];
  }
  const at = place.field('weighted_clusters');
  refuseOtherFields(at, weighted, WEIGHTED);
  return (weighted.clusters ?? []).map((target, index) => {
    const where = at.field('clusters').index(index);
    refuseOtherFields(where, target, WEIGHT);
    checkCluster(target.name ?? '', where.field('name'), context);
    return {
      cluster: target.name,
      weight: target.weight,
      metadata_match: compileMetadataMatch(config.metadata_match, target.metadata_match),
    };
  });
}

/** There is at most one policy. */
function compileHash(
  config: TcpProxyConfig,
  place: Place,
): Pick<TcpProxy, 'hashes_source_ip' | 'hashes_filter_state'> {
  const policy = config.hash_policy?.[0];
  if (!policy) return {};
  refuseOtherFields(place.index(0), policy, HASH);
  return {
    hashes_source_ip: policy.source_ip !== undefined,
    hashes_filter_state: policy.filter_state?.key,
  };
}

/** The real server takes such a name, too: a cluster of that name may come later. */
function checkCluster(name: string, place: Place, context: CompileContext): void {
  if (context.clusterNames.has(name)) return;
  place.warn(`unknown cluster '${name}': connections are closed until there is one`, {
    suggestion: nearestName(name, context.clusterNames),
  });
}
