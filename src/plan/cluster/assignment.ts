// The endpoints of a cluster as hosts.
import type {
  envoy_config_endpoint_v3_ClusterLoadAssignment as ClusterLoadAssignment,
  envoy_config_endpoint_v3_ClusterLoadAssignment_Policy as Policy,
  envoy_config_endpoint_v3_Endpoint as Endpoint,
  envoy_config_endpoint_v3_LbEndpoint as LbEndpoint,
  envoy_config_endpoint_v3_LocalityLbEndpoints as LocalityLbEndpoints,
} from '../../../build/messages.gen.js';
import { compileAddress, compileAddressOrName } from '../address/address.js';
import type { DnsEndpoint } from './dns-cluster.js';
import { hostLabels, socketLabels } from './host-labels.js';
import { formatIp } from '../address/ip.js';
import type { Place } from '../message/place.js';
import { Host_Health, type Host } from '../plan.gen.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

// A locality's weight only counts for load balancing by locality, which is refused where it is asked
// for. What the health checks of an endpoint would be only counts for a cluster that has some.
const ASSIGNMENT = supportedFields<ClusterLoadAssignment>(
  'envoy.config.endpoint.v3.ClusterLoadAssignment',
  ['cluster_name', 'endpoints', 'policy'],
  { named_endpoints: {} },
);
const POLICY = supportedFields<Policy>('envoy.config.endpoint.v3.ClusterLoadAssignment.Policy', [
  'overprovisioning_factor',
]);
const LOCALITY = supportedFields<LocalityLbEndpoints>(
  'envoy.config.endpoint.v3.LocalityLbEndpoints',
  ['locality', 'metadata', 'lb_endpoints', 'load_balancing_weight', 'priority'],
);
const LB_ENDPOINT = supportedFields<LbEndpoint>('envoy.config.endpoint.v3.LbEndpoint', [
  'endpoint',
  'health_status',
  'metadata',
  'load_balancing_weight',
]);
const ENDPOINT = supportedFields<Endpoint>('envoy.config.endpoint.v3.Endpoint', [
  'address',
  'hostname',
  'health_check_config',
]);

const DEFAULT_OVERPROVISIONING_PCT = 140;

const HEALTH = {
  UNKNOWN: Host_Health.HEALTHY,
  HEALTHY: Host_Health.HEALTHY,
  UNHEALTHY: Host_Health.UNHEALTHY,
  DRAINING: Host_Health.DRAINING,
  TIMEOUT: Host_Health.TIMEOUT,
  DEGRADED: Host_Health.DEGRADED,
} as const;

/** What is said of an endpoint whose address is a name, in a cluster that does not ask DNS. */
const NO_DNS = 'type: STRICT_DNS (or LOGICAL_DNS) in the cluster, which lets DNS answer for names';

/** The endpoints of a cluster, each compiled to a `T`. */
export interface Endpoints<T> {
  readonly all: readonly T[];
  readonly overprovisioningFactorPct: number;
  /** How many localities and endpoints are configured, for clusters that take only one. */
  readonly localities: number;
  readonly count: number;
}

/** Endpoints that have addresses. */
export function compileHosts(
  assignment: ClusterLoadAssignment | undefined,
  place: Place,
): Endpoints<Host> {
  return compileEndpoints(assignment, place, (endpoint, host, at) => {
    const address = compileAddress(endpoint.address, at.field('address'), NO_DNS);
    return address && { ...host, address };
  });
}

/** Endpoints that DNS is asked for; an IP address is its own answer. */
export function compileNames(
  assignment: ClusterLoadAssignment | undefined,
  place: Place,
): Endpoints<DnsEndpoint> {
  return compileEndpoints(assignment, place, (endpoint, host, at) => {
    const address = compileAddressOrName(endpoint.address, at.field('address'));
    if (address === undefined) return undefined;
    if (!('hostname' in address) && !address.ip) {
      at.field('address').error('a pipe in a cluster that asks DNS is not supported yet', {
        expected: 'socket_address',
      });
      return undefined;
    }
    const hostname = 'hostname' in address ? address.hostname : formatIp(address.ip!);
    return {
      hostname,
      port: address.port ?? 0,
      host: { ...host, hostname: host.hostname || hostname },
    };
  });
}

function compileEndpoints<T>(
  assignment: ClusterLoadAssignment | undefined,
  place: Place,
  compile: (endpoint: Endpoint, host: Host, place: Place) => T | undefined,
): Endpoints<T> {
  const all: T[] = [];
  if (assignment) refuseOtherFields(place, assignment, ASSIGNMENT);
  if (assignment?.policy) refuseOtherFields(place.field('policy'), assignment.policy, POLICY);
  const localities = assignment?.endpoints ?? [];
  localities.forEach((locality, i) => {
    const at = place.field('endpoints').index(i);
    refuseOtherFields(at, locality, LOCALITY);
    (locality.lb_endpoints ?? []).forEach((message, j) => {
      const where = at.field('lb_endpoints').index(j);
      refuseOtherFields(where, message, LB_ENDPOINT);
      const endpoint = message.endpoint ?? {};
      refuseOtherFields(where.field('endpoint'), endpoint, ENDPOINT);
      const compiled = compile(endpoint, hostOf(message, locality), where.field('endpoint'));
      if (compiled !== undefined) all.push(compiled);
    });
  });
  const overprovisioningFactorPct =
    assignment?.policy?.overprovisioning_factor ?? DEFAULT_OVERPROVISIONING_PCT;
  const count = localities.reduce((sum, { lb_endpoints: own = [] }) => sum + own.length, 0);
  return { all, overprovisioningFactorPct, localities: localities.length, count };
}

/** A host without its address. */
function hostOf(message: LbEndpoint, locality: LocalityLbEndpoints): Host {
  return {
    hostname: message.endpoint?.hostname,
    weight: message.load_balancing_weight ?? 1,
    priority: locality.priority,
    health: HEALTH[message.health_status ?? 'UNKNOWN'],
    region: locality.locality?.region,
    zone: locality.locality?.zone,
    sub_zone: locality.locality?.sub_zone,
    labels: hostLabels(message.metadata),
    socket_labels: socketLabels(message.metadata),
    canary: message.metadata?.filter_metadata?.['envoy.lb']?.['canary'] === true,
  };
}
