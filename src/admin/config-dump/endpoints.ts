// The hosts that clusters have now, as the assignments that they would have been configured with.
import type {
  envoy_config_cluster_v3_Cluster as Cluster,
  envoy_config_core_v3_Address as Address,
  envoy_config_core_v3_Locality as Locality,
  envoy_config_endpoint_v3_ClusterLoadAssignment_Policy_DropOverload as DropOverload,
  envoy_config_endpoint_v3_Endpoint_HealthCheckConfig as CheckConfig,
  envoy_config_endpoint_v3_LbEndpoint as LbEndpoint,
  envoy_config_endpoint_v3_LocalityLbEndpoints as LocalityEndpoints,
} from '../../../build/messages.gen.js';
import type { NativeProxy } from '../../native.js';
import { resolveClusterType } from '../../plan/cluster/cluster-type.js';
import { DENOMINATORS } from '../../plan/message/numbers.js';
import { Place } from '../../plan/message/place.js';

/** A host as the JSON of /clusters has it. */
export interface LiveHost {
  readonly address: Address;
  readonly health_status?: LiveHealth;
  readonly weight?: number;
  readonly hostname?: string;
  readonly priority?: number;
  readonly locality?: Locality;
}

interface LiveHealth {
  readonly eds_health_status?: string;
  readonly failed_active_health_check?: boolean;
  readonly failed_active_degraded_check?: boolean;
  readonly failed_outlier_check?: boolean;
}

interface LiveCluster {
  readonly host_statuses?: readonly LiveHost[];
}

/** What an endpoint's configuration says of it that keeps requests away. */
const FAILED: ReadonlySet<string> = new Set(['UNHEALTHY', 'DRAINING', 'TIMEOUT']);
const DEFAULT_OVERPROVISIONING_FACTOR = 140;

/** None where there is no such cluster. */
export function readLiveHosts(native: NativeProxy, cluster: string): readonly LiveHost[] {
  const json = native.clusterStatus(cluster);
  return json === undefined ? [] : ((JSON.parse(json) as LiveCluster).host_statuses ?? []);
}

export function liveAssignment(
  cluster: Cluster,
  hosts: readonly LiveHost[],
): { readonly cluster_name: string } {
  const { load_assignment: assignment } = cluster;
  const factor = assignment?.policy?.overprovisioning_factor ?? DEFAULT_OVERPROVISIONING_FACTOR;
  const finding = findingOf(cluster);
  const groups = finding === 'made' ? hosts.map((host) => [host]) : groupHosts(hosts);
  const endpoints = groups.map((group) =>
    groupMessage(group, assignment?.endpoints ?? [], finding),
  );
  endpoints.sort((a, b) => a.priority - b.priority);
  return {
    cluster_name: cluster.name ?? '',
    ...(endpoints.length > 0 && { endpoints }),
    policy: { overprovisioning_factor: factor, ...dropsOf(assignment?.policy?.drop_overloads) },
  } as { cluster_name: string };
}

/** What of its requests a cluster drops; as the real server has it, in millionths. */
function dropsOf([drop]: readonly DropOverload[] = []) {
  const { numerator = 0, denominator = 'HUNDRED' } = drop?.drop_percentage ?? {};
  if (numerator === 0) return {};
  const drop_percentage = {
    numerator: Math.floor((numerator * 1_000_000) / DENOMINATORS[denominator]),
    denominator: 'MILLION',
  };
  return { drop_overloads: [{ category: drop?.category, drop_percentage }] };
}

/**
 * Where its hosts come from: they are told, DNS finds them, or they are made as they are asked for, which
 * have no localities.
 */
type Finding = 'told' | 'dns' | 'made';

function findingOf(cluster: Cluster): Finding {
  const { message, forwardProxy } = resolveClusterType(cluster, Place.root([]));
  if (message.type === 'ORIGINAL_DST') return 'made';
  const isByDns = message.type === 'STRICT_DNS' || message.type === 'LOGICAL_DNS';
  return isByDns || forwardProxy ? 'dns' : 'told';
}

/** By priority and locality, in the order of the first of each. */
function groupHosts(hosts: readonly LiveHost[]): readonly (readonly LiveHost[])[] {
  const groups = new Map<string, LiveHost[]>();
  for (const host of hosts) {
    const { region = '', zone = '', sub_zone = '' } = host.locality ?? {};
    const key = JSON.stringify([host.priority ?? 0, region, zone, sub_zone]);
    const group = groups.get(key);
    if (group) group.push(host);
    else groups.set(key, [host]);
  }
  return [...groups.values()];
}

/** Hosts of one locality and priority, with what only the configuration knows of them. */
function groupMessage(
  group: readonly LiveHost[],
  configured: readonly LocalityEndpoints[],
  finding: Finding,
) {
  const { locality = {}, priority = 0 } = group[0] ?? {};
  const source = configured.filter(
    (some) => (some.priority ?? 0) === priority && isSameLocality(some.locality ?? {}, locality),
  );
  const known = source.flatMap(({ lb_endpoints: endpoints = [] }) => endpoints);
  // Hosts that DNS finds always have metadata of their own.
  const metadata = finding === 'dns' ? {} : undefined;
  return {
    locality,
    lb_endpoints: group.map((host) => hostMessage(host, known, metadata)),
    ...(finding !== 'made' && {
      load_balancing_weight: (source[0]?.locality && source[0].load_balancing_weight) ?? 0,
    }),
    priority,
  };
}

function isSameLocality(a: Locality, b: Locality): boolean {
  return (['region', 'zone', 'sub_zone'] as const).every(
    (name) => (a[name] ?? '') === (b[name] ?? ''),
  );
}

function hostMessage(
  host: LiveHost,
  known: readonly LbEndpoint[],
  defaultMetadata: object | undefined,
): LbEndpoint {
  const configured = known.find(({ endpoint }) => isAddressOf(host, endpoint?.address));
  const { hostname = '' } = host;
  const metadata = configured?.metadata ?? defaultMetadata;
  const more = configured?.endpoint?.additional_addresses ?? [];
  return {
    endpoint: {
      address: host.address,
      health_check_config: checkOf(host, configured?.endpoint?.health_check_config ?? {}),
      ...(hostname !== '' && { hostname }),
      ...(more.length > 0 && { additional_addresses: more }),
    },
    health_status: healthOf(host.health_status ?? {}),
    ...(metadata && { metadata }),
    load_balancing_weight: host.weight ?? 1,
  } as LbEndpoint;
}

/** Whether a host is checked at all, and at which other address, is not told: its port is. */
function checkOf({ address }: LiveHost, configured: CheckConfig): CheckConfig {
  const { hostname, address: other, port_value: port = 0 } = configured;
  const own = address.socket_address;
  const elsewhere = other?.socket_address;
  const at = { address: elsewhere?.address ?? own?.address, port: port || elsewhere?.port_value };
  const isElsewhere =
    at.address !== own?.address || (at.port ?? own?.port_value) !== own?.port_value;
  return {
    ...(hostname !== undefined && { hostname }),
    ...(isElsewhere && { port_value: at.port ?? own?.port_value ?? 0 }),
  };
}

/** A host that DNS found has the configured name and port. */
function isAddressOf(host: LiveHost, configured: Address | undefined): boolean {
  const wanted = configured?.socket_address;
  const live = host.address.socket_address;
  if (!wanted || !live) {
    const internal = configured?.envoy_internal_address;
    const other = host.address.envoy_internal_address;
    return (
      configured?.pipe?.path === host.address.pipe?.path &&
      internal?.server_listener_name === other?.server_listener_name &&
      (internal?.endpoint_id ?? '') === (other?.endpoint_id ?? '')
    );
  }
  const names = [live.address, host.hostname];
  return names.includes(wanted.address) && wanted.port_value === live.port_value;
}

/** A dump tells only these three apart. */
function healthOf(health: LiveHealth): string {
  const isOut = health.failed_active_health_check || health.failed_outlier_check;
  const { eds_health_status: told = 'HEALTHY' } = health;
  if (isOut || FAILED.has(told)) return 'UNHEALTHY';
  return told === 'DEGRADED' || health.failed_active_degraded_check ? 'DEGRADED' : 'HEALTHY';
}
