// Where a cluster's hosts come from: DNS, EDS, original destinations or its configuration.
import type {
  envoy_config_cluster_v3_Cluster as ClusterMessage,
  envoy_config_cluster_v3_Cluster_EdsClusterConfig as EdsConfig,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import type { ClusterPlan } from './cluster-plan.js';
import { compileHosts, compileNames } from './assignment.js';
import type { TypedCluster } from './cluster-type.js';
import type { DnsClusterPlan } from './dns-cluster.js';
import { compileResolver, type ResolverPlan } from '../dns-resolver.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { compileOriginalDst } from './original-dst.js';
import type { HostNeeds } from './host-needs.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { compileSourceOf } from '../authority-streams.js';
import { MISSING_SOURCE, compileConfigSource } from '../config-source.js';
import type { EdsPlan } from './eds-cluster.js';

export const EDS = supportedFields<EdsConfig>('envoy.config.cluster.v3.Cluster.EdsClusterConfig', [
  'eds_config',
  'service_name',
]);

const DEFAULT_DNS_REFRESH_MS = 5000;

/** STATIC: an assignment; otherwise who is asked for it. Undefined after an error. */
export function compileHostSource(
  { message, dnsMinRefreshMs, aggregate, forwardProxy }: TypedCluster,
  place: Place,
  context: CompileContext,
  needs: HostNeeds,
): Omit<ClusterPlan, 'cluster' | 'control' | 'sockets'> | undefined {
  const type = message.type ?? 'STATIC';
  const at = place.field('load_assignment');
  if (aggregate || forwardProxy) return {};
  if (type === 'EDS') {
    const eds = compileEds(message, place, context, needs);
    return eds && { eds };
  }
  if (message.eds_cluster_config) {
    place.field('eds_cluster_config').error('eds_cluster_config set in a non-EDS cluster', {
      expected: 'type: EDS',
    });
  }
  if (type === 'ORIGINAL_DST') {
    const destinations = compileOriginalDst(message, place);
    return destinations && { destinations };
  }
  if (message.original_dst_lb_config) {
    place.field('original_dst_lb_config').warn('has no effect in a cluster of another type');
  }
  if (type === 'STRICT_DNS' || type === 'LOGICAL_DNS') {
    const dns = compileDns(message, type, at, place, needs, context, dnsMinRefreshMs);
    return dns && { dns };
  }
  const hosts = compileHosts(message.load_assignment, at, needs);
  return {
    assignment: {
      cluster_name: message.name,
      hosts: hosts.all,
      ...hosts.policy,
      // As the real server: where a locality is named.
      shows_members: (message.load_assignment?.endpoints ?? []).length > 0,
    },
  };
}

function compileEds(
  message: ClusterMessage,
  place: Place,
  context: CompileContext,
  needs: HostNeeds,
): EdsPlan | undefined {
  const config = message.eds_cluster_config;
  const at = place.field('eds_cluster_config');
  const cluster = message.name ?? '';
  const serviceName = config?.service_name ?? '';
  const asked = serviceName || cluster;
  if (!config || (!config.eds_config && !context.authorities.sourceOf(asked))) {
    const missing = config ? MISSING_SOURCE : 'cannot create an EDS cluster without an EDS config';
    at.error(missing, { expected: 'eds_config, with path_config_source' });
    return undefined;
  }
  refuseOtherFields(at, config, EDS);
  if (message.load_assignment) {
    place.field('load_assignment').warn('has no effect in a cluster whose hosts come from EDS');
  }
  const { eds_config: from } = config;
  const type = 'envoy.config.endpoint.v3.ClusterLoadAssignment';
  // As the real server: static clusters with files are there before anybody is asked.
  const isEarly = context.start !== undefined && (from?.path ?? from?.path_config_source);
  const source = isEarly
    ? compileConfigSource(from, type, at.field('eds_config'), context)
    : compileSourceOf(asked, from, type, at.field('eds_config'), context);
  return source && { cluster, serviceName, source, needs };
}

/** How servers are asked is only said of those that the cluster names, as in the real server. */
function compileResolverOf(
  message: ClusterMessage,
  place: Place,
  { defaultResolver }: CompileContext,
): ResolverPlan | undefined {
  const { use_tcp_for_dns_lookups: usesTcp, dns_resolvers: servers = [], ...rest } = message;
  if (usesTcp && servers.length === 0) {
    place.field('use_tcp_for_dns_lookups').warn('has no effect without dns_resolvers', {
      expected: "typed_dns_resolver_config, or the bootstrap's use_tcp_for_dns_lookups",
    });
  }
  return compileResolver(servers.length > 0 ? message : rest, place) ?? defaultResolver(place);
}

function compileDns(
  message: ClusterMessage,
  type: 'STRICT_DNS' | 'LOGICAL_DNS',
  place: Place,
  clusterPlace: Place,
  needs: HostNeeds,
  context: CompileContext,
  minRefreshMs = 0,
): DnsClusterPlan | undefined {
  const names = compileNames(message.load_assignment, place, type, needs);
  const failure = message.dns_failure_refresh_rate;
  const baseMs = wholeMs(failure?.base_interval, 0);
  if (failure?.max_interval && wholeMs(failure.max_interval, 0) < baseMs) {
    place
      .field('dns_failure_refresh_rate')
      .field('max_interval')
      .error(
        'dns_failure_refresh_rate must have max_interval greater than or equal to the base_interval',
      );
  }
  if (type === 'LOGICAL_DNS' && (names.count !== 1 || names.localities !== 1)) {
    place.error(
      names.localities === 0
        ? 'LOGICAL_DNS clusters must have a single host'
        : 'LOGICAL_DNS clusters must have a single locality_lb_endpoint and a single lb_endpoint',
    );
    return undefined;
  }
  const resolver = compileResolverOf(message, clusterPlace, context);
  return {
    name: message.name ?? '',
    kind: type === 'LOGICAL_DNS' ? 'logical' : 'strict',
    lookup: message.dns_lookup_family ?? 'AUTO',
    refreshMs: wholeMs(message.dns_refresh_rate, DEFAULT_DNS_REFRESH_MS),
    ...(failure && {
      failureRefresh: { baseMs, maxMs: wholeMs(failure.max_interval, baseMs * 10) },
    }),
    respectTtl: message.respect_dns_ttl ?? false,
    minRefreshMs: wholeMs(minRefreshMs, 0),
    jitterMs: wholeMs(message.dns_jitter, 0),
    policy: names.policy,
    ...(resolver && { resolver }),
    endpoints: names.all,
  };
}
