// The kind of a cluster: `type`, or an extension (`cluster_type`) that is one of the same kinds.
import type {
  envoy_config_cluster_v3_Cluster as ClusterMessage,
  envoy_extensions_clusters_dns_v3_DnsCluster as DnsClusterMessage,
} from '../../../build/messages.gen.js';
import type { envoy_extensions_clusters_aggregate_v3_ClusterConfig as AggregateMessage } from '../../../build/messages.gen.js';
import type { envoy_extensions_clusters_dynamic_forward_proxy_v3_ClusterConfig as ForwardProxyMessage } from '../../../build/messages.gen.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { AGGREGATE } from './aggregate.js';
import { FORWARD_PROXY } from './forward-proxy.js';
import { nameOr } from '../message/open-enum.js';

const DNS_CLUSTER = 'envoy.extensions.clusters.dns.v3.DnsCluster';
const DNS = supportedFields<DnsClusterMessage>(DNS_CLUSTER, [
  'dns_refresh_rate',
  'dns_failure_refresh_rate',
  'respect_dns_ttl',
  'dns_jitter',
  'dns_lookup_family',
  'all_addresses_in_single_endpoint',
  'dns_min_refresh_rate',
  'typed_dns_resolver_config',
]);

/** Extensions without a configuration, and the older types that they are. */
const BY_NAME: Readonly<Record<string, ClusterMessage['type']>> = {
  'envoy.cluster.static': 'STATIC',
  'envoy.cluster.strict_dns': 'STRICT_DNS',
  'envoy.cluster.logical_dns': 'LOGICAL_DNS',
  'envoy.cluster.eds': 'EDS',
  'envoy.cluster.original_dst': 'ORIGINAL_DST',
};

/** A cluster that says by its older fields alone of which kind it is. */
export interface TypedCluster {
  readonly message: ClusterMessage;
  /** Of DNS: answers are kept no shorter, whatever they say; absent: as short as they say. */
  readonly dnsMinRefreshMs?: number;
  /** Its requests go to others' hosts. */
  readonly aggregate?: AggregateMessage;
  /** Its hosts are those that requests name. */
  readonly forwardProxy?: ForwardProxyMessage;
}

/**
 * Where a cluster is what an extension says. One that is not known stays, to be refused; like the real
 * server, this goes by the configuration's type where there is one.
 */
export function resolveClusterType(message: ClusterMessage, place: Place): TypedCluster {
  const custom = message.cluster_type;
  if (!custom) return { message };
  const { cluster_type: _, ...others } = message;
  const config = custom.typed_config;
  if (config?.$type === DNS_CLUSTER) {
    const at = place.field('cluster_type').field('typed_config');
    return ofDns(config as DnsClusterMessage, at, others);
  }
  const isBare = (name: string): boolean => !config && custom.name === name;
  if (config?.$type === AGGREGATE || isBare('envoy.clusters.aggregate')) {
    return { message: others, aggregate: (config ?? {}) as AggregateMessage };
  }
  if (config?.$type === FORWARD_PROXY || isBare('envoy.clusters.dynamic_forward_proxy')) {
    return { message: others, forwardProxy: (config ?? {}) as ForwardProxyMessage };
  }
  const type = config ? undefined : BY_NAME[custom.name ?? ''];
  return { message: type ? { ...others, type } : message };
}

/** The fields of the cluster's own that say the same are not asked then. */
function ofDns(config: DnsClusterMessage, place: Place, others: ClusterMessage): TypedCluster {
  refuseOtherFields(place, config, DNS);
  const {
    dns_refresh_rate: _refresh,
    dns_failure_refresh_rate: _failure,
    respect_dns_ttl: _ttl,
    dns_jitter: _jitter,
    typed_dns_resolver_config: _resolver,
    dns_resolution_config: _resolution,
    dns_resolvers: _resolvers,
    ...rest
  } = others;
  const {
    dns_refresh_rate: refresh,
    dns_failure_refresh_rate: failure,
    dns_min_refresh_rate: minRefresh,
    dns_lookup_family: family,
    typed_dns_resolver_config: resolver,
  } = config;
  const named = nameOr(family, 'UNSPECIFIED');
  return {
    message: {
      ...rest,
      type: config.all_addresses_in_single_endpoint ? 'LOGICAL_DNS' : 'STRICT_DNS',
      ...(refresh !== undefined && { dns_refresh_rate: refresh }),
      ...(failure && { dns_failure_refresh_rate: failure }),
      ...(resolver && { typed_dns_resolver_config: resolver }),
      respect_dns_ttl: config.respect_dns_ttl ?? false,
      dns_jitter: config.dns_jitter ?? 0,
      dns_lookup_family: named === 'UNSPECIFIED' ? 'AUTO' : named,
    },
    ...(minRefresh !== undefined && { dnsMinRefreshMs: minRefresh }),
  };
}
