// Route tables: virtual hosts by domain, each with its routes.
import type {
  envoy_config_route_v3_RouteConfiguration as RouteConfiguration,
  envoy_config_route_v3_VirtualCluster as VirtualClusterMessage,
  envoy_config_route_v3_VirtualHost as VirtualHostMessage,
} from '../../../build/messages.gen.js';
import type { ChainFilter } from '../chain-filter.js';
import type { CompileContext } from '../extension.js';
import { metadataOf } from '../format/metadata-values.js';
import { compileHeaderMutations } from './header-mutations.js';
import type { Place } from '../message/place.js';
import {
  VirtualHost_RequireTls,
  type FilterConfig,
  type RetryRuntime,
  type RouteTable,
  type VirtualCluster,
  type VirtualHost,
} from '../plan.gen.js';
import type { RuntimeReads } from '../runtime/runtime-reads.js';
import { compileMirrors } from './mirrors.js';
import { compileRateLimits } from './rate-limits.js';
import { compileClusterTrees } from './cluster-tree.js';
import { compileCorsPolicy } from './cors-policy.js';
import { compileHedging, compileRetries } from './retry-policy.js';
import { readFilterOverrides } from './route-filters.js';
import { compileRoute } from './route.js';
import { compileHeaderMatcher } from '../match/matchers.js';
import { compileRouteTree } from './route-tree.js';
import { bodyLimit, type RouteScope } from './route-scope.js';
import { refuseField, refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { compileVhds } from './vhds.js';

const TABLE = supportedFields<RouteConfiguration>('envoy.config.route.v3.RouteConfiguration', [
  'name',
  'virtual_hosts',
  'response_headers_to_add',
  'response_headers_to_remove',
  'request_headers_to_add',
  'request_headers_to_remove',
  'most_specific_header_mutations_wins',
  'validate_clusters',
  'max_direct_response_body_size_bytes',
  'request_mirror_policies',
  'ignore_port_in_host_matching',
  'ignore_path_parameters_in_path_matching',
  'vhost_header',
  'metadata',
  'typed_per_filter_config',
  'internal_only_headers',
  'cluster_specifier_plugins',
  // Where the table itself comes by RDS.
  'vhds',
]);
const VIRTUAL_HOST = supportedFields<VirtualHostMessage>('envoy.config.route.v3.VirtualHost', [
  'name',
  'domains',
  'routes',
  'require_tls',
  'request_headers_to_add',
  'request_headers_to_remove',
  'response_headers_to_add',
  'response_headers_to_remove',
  'include_request_attempt_count',
  'include_attempt_count_in_response',
  'include_is_timeout_retry_header',
  'request_mirror_policies',
  'retry_policy',
  'retry_policy_typed_config',
  'hedge_policy',
  'per_request_buffer_limit_bytes',
  'request_body_buffer_limit',
  'metadata',
  'typed_per_filter_config',
  'cors',
  'rate_limits',
  'virtual_clusters',
  'matcher',
]);
const VIRTUAL_CLUSTER = supportedFields<VirtualClusterMessage>(
  'envoy.config.route.v3.VirtualCluster',
  ['name', 'headers'],
);

const DEFAULT_MAX_BODY_BYTES = 4096;
const DEFAULT_RETRY_INTERVAL_MS = 25;

/** A table that is written in the bootstrap knows all clusters; one that comes later may not. */
export interface RouteTableOptions {
  readonly validatesClusters: boolean;
  /** The HTTP filters before the router, in their order. */
  readonly chain: readonly ChainFilter[];
  /** Of the connection manager that asks for it; of several with the same chain, the first. */
  readonly statPrefix: string;
  /** More virtual hosts may come by VHDS. */
  readonly followsHosts?: boolean;
}

/** The plan of a table; its name is the configuration's. */
export function compileRouteTable(
  message: RouteConfiguration,
  outer: Place,
  context: CompileContext,
  options: RouteTableOptions,
): RouteTable {
  const place = outer.reading(context.runtime);
  refuseOtherFields(place, message, TABLE);
  const asksForHosts = compileVhds(message, place, context) !== undefined;
  if (asksForHosts && !options.followsHosts) refuseField(place, 'vhds', message.vhds, TABLE);
  const filterConfigs: FilterConfig[] = [];
  const levels = {
    context,
    addFilterConfig: (config: FilterConfig) => filterConfigs.push(config) - 1,
    statPrefix: options.statPrefix,
  };
  const plain: RouteScope = {
    ...levels,
    validatesClusters: message.validate_clusters ?? options.validatesClusters,
    clusterTrees: compileClusterTrees(
      message.cluster_specifier_plugins,
      place.field('cluster_specifier_plugins'),
      context,
    ),
    // As in the real server, 0 is no limit.
    maxBodyBytes:
      (message.max_direct_response_body_size_bytes ?? DEFAULT_MAX_BODY_BYTES) || Infinity,
    chain: options.chain,
    filterOverrides: [readFilterOverrides(message.typed_per_filter_config, place, levels)],
    defaults: {},
  };
  const mirrorsAt = place.field('request_mirror_policies');
  const mirrors = compileMirrors(message.request_mirror_policies, mirrorsAt, plain);
  const scope: RouteScope = { ...plain, defaults: { mirrors } };
  const retryRuntime = readRetryRuntime(context.runtime);
  const hosts = message.virtual_hosts ?? [];
  const at = place.field('virtual_hosts');
  refuseSharedDomains(hosts, message.name ?? '', at);
  return {
    name: message.name,
    virtual_hosts: hosts.map((host, index) => ({
      ...compileVirtualHost(host, at.index(index), scope),
      retry_runtime: retryRuntime,
    })),
    mutations: compileHeaderMutations(message, place),
    ignore_port_in_host_matching: message.ignore_port_in_host_matching,
    most_specific_header_mutations_wins: message.most_specific_header_mutations_wins,
    ignores_path_parameters: message.ignore_path_parameters_in_path_matching,
    vhost_header: message.vhost_header?.toLowerCase(),
    internal_only_headers: message.internal_only_headers?.map((name) => name.toLowerCase()),
    filter_configs: filterConfigs,
  };
}

function compileVirtualHost(
  message: VirtualHostMessage,
  place: Place,
  table: RouteScope,
): VirtualHost {
  refuseOtherFields(place, message, VIRTUAL_HOST);
  const at = place.field('routes');
  const cors = message.cors && compileCorsPolicy(message.cors, place.field('cors'), table.context);
  const limits = message.rate_limits;
  const rateLimits = compileRateLimits(limits, place.field('rate_limits'), table.context, {
    of: 'route',
  });
  const own = {
    ...readFilterOverrides(message.typed_per_filter_config, place, table),
    cors: cors && table.addFilterConfig({ cors }),
    rateLimits:
      rateLimits.length > 0
        ? table.addFilterConfig({ rate_limits: { of_virtual_host: true, limits: rateLimits } })
        : undefined,
  };
  const scope: RouteScope = {
    ...table,
    filterOverrides: [...table.filterOverrides, own],
    defaults: {
      retry: compileRetries(message, place, table.context),
      hedgesOnTimeout: compileHedging(message.hedge_policy, place.field('hedge_policy')),
      body: bodyLimit(message),
      rateLimits,
      mirrors:
        compileMirrors(
          message.request_mirror_policies,
          place.field('request_mirror_policies'),
          table,
        ) ?? table.defaults.mirrors,
    },
  };
  if (message.matcher && (message.routes ?? []).length > 0) {
    place.error('cannot set both matcher and routes on virtual host');
  }
  return {
    name: message.name,
    virtual_clusters: compileVirtualClusters(
      message.virtual_clusters,
      place.field('virtual_clusters'),
    ),
    tree: message.matcher && compileRouteTree(message.matcher, place.field('matcher'), scope),
    domains: (message.domains ?? []).map((domain) => domain.toLowerCase()),
    routes: (message.routes ?? []).flatMap(
      (route, index) => compileRoute(route, at.index(index), scope) ?? [],
    ),
    mutations: compileHeaderMutations(message, place),
    ...metadataOf(message.metadata),
    require_tls: VirtualHost_RequireTls[message.require_tls ?? 'NONE'],
    include_request_attempt_count: message.include_request_attempt_count,
    include_attempt_count_in_response: message.include_attempt_count_in_response,
    include_is_timeout_retry: message.include_is_timeout_retry_header,
  };
}

function compileVirtualClusters(
  messages: readonly VirtualClusterMessage[] | undefined,
  place: Place,
): VirtualCluster[] {
  return (messages ?? []).map((message, index) => {
    const at = place.index(index);
    refuseOtherFields(at, message, VIRTUAL_CLUSTER);
    const headers = at.field('headers');
    if (!message.headers?.length) {
      headers.error("virtual clusters must define 'headers'", {
        expected: 'conditions on headers, such as on :path and :method',
      });
    }
    return {
      name: message.name,
      headers: (message.headers ?? []).flatMap(
        (header, i) => compileHeaderMatcher(header, headers.index(i)) ?? [],
      ),
    };
  });
}

/** How long the first retry waits where no policy says it, and how many retries are allowed at all. */
function readRetryRuntime(runtime: RuntimeReads): RetryRuntime {
  const base = runtime.liveNumber('upstream.base_retry_backoff_ms', DEFAULT_RETRY_INTERVAL_MS);
  const allowed = runtime.liveMillionths('upstream.use_retry', { numerator: 100 });
  return {
    base_interval_ms: base.value,
    base_interval_slot: base.slot,
    allowed_millionths: allowed.value,
    allowed_slot: allowed.slot,
  };
}

/** A domain belongs to one virtual host, whatever its case. */
function refuseSharedDomains(
  hosts: readonly VirtualHostMessage[],
  table: string,
  place: Place,
): void {
  const owners = new Map<string, readonly [host: number, domain: number]>();
  hosts.forEach((host, i) => {
    (host.domains ?? []).forEach((text, j) => {
      const domain = text.toLowerCase();
      const owner = owners.get(domain);
      if (owner === undefined) {
        owners.set(domain, [i, j]);
        return;
      }
      const message =
        domain === '*'
          ? `Only a single wildcard domain is permitted in route ${table}`
          : `Only unique values for domains are permitted. Duplicate entry of domain ${domain} in route ${table}`;
      place
        .index(i)
        .field('domains')
        .index(j)
        .error(message, {
          expected: `a domain that virtual host '${hosts[owner[0]]?.name ?? ''}' does not have`,
          related: place.index(owner[0]).field('domains').index(owner[1]),
        });
    });
  });
}
