// envoy.clusters.dynamic_forward_proxy: a cluster whose hosts are those that requests name.
import type {
  envoy_config_cluster_v3_Cluster as ClusterMessage,
  envoy_extensions_clusters_dynamic_forward_proxy_v3_ClusterConfig as Message,
  envoy_extensions_clusters_dynamic_forward_proxy_v3_SubClustersConfig as SubClusters,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import type { UpstreamHttpOptions } from '../extension-plans.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { NamedHosts } from '../plan.gen.js';
import { demandProvided } from './aggregate.js';
import type { AskedName, ClusterPlan, NamedClusterPlan } from './cluster-plan.js';
import { compileNames } from './names.js';

const PACKAGE = 'envoy.extensions.clusters.dynamic_forward_proxy.v3';
export const FORWARD_PROXY = `${PACKAGE}.ClusterConfig`;
const FIELDS = supportedFields<Message>(FORWARD_PROXY, [
  'dns_cache_config',
  'allow_insecure_cluster_options',
  'sub_clusters_config',
]);
const SUB_CLUSTERS = supportedFields<SubClusters>(`${PACKAGE}.SubClustersConfig`, [
  'lb_policy',
  'max_sub_clusters',
  'sub_cluster_ttl',
  'preresolve_clusters',
  'dns_cluster_config',
]);

const DEFAULT_TTL_MS = 300_000;
const DEFAULT_MAX = 1024;
const PREFIX = 'DFPCluster:';
/** What the real server gives those that say nothing of HTTP. */
const HTTP_DEFAULTS = {
  upstream_http_protocol_options: { auto_sni: true, auto_san_validation: true },
};
const DNS_CLUSTER = 'envoy.cluster.dns';

/** Compiles the cluster of a name. */
export type CompileSubCluster = (message: ClusterMessage) => ClusterPlan | undefined;

export interface ForwardProxyPlan {
  readonly hosts: NamedHosts;
  readonly names: NamedClusterPlan;
}

/** Undefined after an error. `isTls`: its hosts are reached by TLS. */
export function compileForwardProxy(
  config: Message,
  message: ClusterMessage,
  place: Place,
  context: CompileContext,
  options: {
    readonly isTls: boolean;
    readonly http: UpstreamHttpOptions;
    readonly compile: CompileSubCluster;
  },
): ForwardProxyPlan | undefined {
  const at = place.field('cluster_type').field('typed_config').within(FORWARD_PROXY);
  refuseOtherFields(at, config, FIELDS);
  if (!demandProvided(message, place)) return undefined;
  demandChecks(config, options.http, at);
  const cluster = message.name ?? '';
  const port = options.isTls ? 443 : 80;
  const sub = config.sub_clusters_config;
  const cacheAt = at.field('dns_cache_config');
  // Without hosts of its own it has a cache of hosts all the same, as in the real server.
  const cache = context.names.add(config.dns_cache_config ?? {}, cacheAt);
  if (!sub) {
    if (cache === undefined) return undefined;
    return {
      hosts: { cache, default_port: port },
      names: { kind: 'hosts', cluster, cache },
    };
  }
  refuseOtherFields(at.field('sub_clusters_config'), sub, SUB_CLUSTERS);
  if (sub.lb_policy === 'CLUSTER_PROVIDED') {
    at.field('sub_clusters_config')
      .field('lb_policy')
      .error("unsupported lb_policy 'CLUSTER_PROVIDED' in sub_cluster_config");
  }
  const preresolve = at.field('sub_clusters_config').field('preresolve_clusters');
  const key = `${PREFIX}${cluster}`;
  return {
    hosts: { cache: key, default_port: port, cluster_prefix: PREFIX },
    names: {
      kind: 'clusters',
      cluster,
      clusters: {
        cache: {
          name: key,
          max_names: sub.max_sub_clusters ?? DEFAULT_MAX,
          max_pending: Number.MAX_SAFE_INTEGER,
          holds_clusters: true,
        },
        ttlMs: wholeMs(sub.sub_cluster_ttl, DEFAULT_TTL_MS),
        atOnce: compileNames(sub.preresolve_clusters, preresolve),
        compile: (name) => {
          const made = subCluster(message, sub, name);
          const plan = options.compile(made);
          return plan && { plan, message: { ...HTTP_DEFAULTS, ...made } };
        },
      },
    },
  };
}

/** Names would be asked for, and not looked at, otherwise. */
function demandChecks(
  { allow_insecure_cluster_options: allows }: Message,
  { sni, sniPlace }: UpstreamHttpOptions,
  place: Place,
): void {
  if (allows || !sni || (sni.auto_sni && sni.auto_san_validation)) return;
  sniPlace.error(
    'dynamic_forward_proxy cluster must have auto_sni and auto_san_validation true unless ' +
      'allow_insecure_cluster_options is set.',
    { related: place },
  );
}

function subCluster(
  { cluster_type: _type, ...message }: ClusterMessage,
  { lb_policy: policy = 'ROUND_ROBIN', dns_cluster_config: dns }: SubClusters,
  { host, port }: AskedName,
): ClusterMessage {
  const name = `${PREFIX}${host.includes(':') ? `[${host}]` : host}:${port}`;
  const endpoint = { address: { socket_address: { address: host, port_value: port } } };
  return {
    ...message,
    name,
    lb_policy: policy,
    ...(dns
      ? {
          cluster_type: {
            name: DNS_CLUSTER,
            typed_config: { $type: 'envoy.extensions.clusters.dns.v3.DnsCluster', ...dns },
          },
        }
      : { type: 'STRICT_DNS' as const }),
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint }] }] },
  } as ClusterMessage;
}
