// The endpoints of a cluster as hosts.
import type {
  envoy_config_core_v3_Address as AddressMessage,
  envoy_config_core_v3_Metadata as Metadata,
  envoy_config_endpoint_v3_ClusterLoadAssignment as ClusterLoadAssignment,
  envoy_config_endpoint_v3_Endpoint as Endpoint,
  envoy_config_endpoint_v3_Endpoint_AdditionalAddress as AdditionalAddress,
  envoy_config_endpoint_v3_Endpoint_HealthCheckConfig as CheckConfig,
  envoy_config_endpoint_v3_LbEndpoint as LbEndpoint,
  envoy_config_endpoint_v3_LocalityLbEndpoints as LocalityLbEndpoints,
} from '../../../build/messages.gen.js';
import {
  compileAddress,
  compileAddressOrName,
  compileHostAddress,
  HOST_SOCKET,
  type HostName,
} from '../address/address.js';
import { compilePolicy, type AssignmentPolicy } from './assignment-policy.js';
import type { DnsEndpoint } from './dns-cluster.js';
import { hashKey, hostLabels, listLabels, socketLabels } from '../host-labels.js';
import { NO_NEEDS, hostValues, inTryingOrder, type HostNeeds } from './host-needs.js';
import { allSpaces } from '../format/metadata-values.js';
import { formatIp } from '../address/ip.js';
import type { Place } from '../message/place.js';
import { type Address, Host_Health, type Host } from '../plan.gen.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { nameOr } from '../message/open-enum.js';

const ASSIGNMENT = supportedFields<ClusterLoadAssignment>(
  'envoy.config.endpoint.v3.ClusterLoadAssignment',
  // As in the real server, nothing refers to endpoints by their names.
  ['cluster_name', 'endpoints', 'policy', 'named_endpoints'],
);
const LOCALITY = supportedFields<LocalityLbEndpoints>(
  'envoy.config.endpoint.v3.LocalityLbEndpoints',
  // The real server asks for these two at no time either.
  [
    'locality',
    'metadata',
    'lb_endpoints',
    'load_balancing_weight',
    'priority',
    'proximity',
    'load_balancer_endpoints',
  ],
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
  'additional_addresses',
  'observability_name',
]);
const CHECK = supportedFields<CheckConfig>('envoy.config.endpoint.v3.Endpoint.HealthCheckConfig', [
  'port_value',
  'hostname',
  'address',
  'disable_active_health_check',
]);
const ADDITIONAL = supportedFields<AdditionalAddress>(
  'envoy.config.endpoint.v3.Endpoint.AdditionalAddress',
  ['address'],
);

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

/**
 * One that is not complete yet. It is written to, as a copy of so many fields is an object of a shape of its own,
 * with which V8 is slow.
 */
type NewHost = { -readonly [Name in keyof Host]: Host[Name] };

/** The endpoints of a cluster, each compiled to a `T`. */
export interface Endpoints<T> {
  readonly all: readonly T[];
  /** What is said of them all. */
  readonly policy: AssignmentPolicy;
  /** How many localities and endpoints are configured, for clusters that take only one. */
  readonly localities: number;
  readonly count: number;
}

/** Endpoints that have addresses. */
export function compileHosts(
  assignment: ClusterLoadAssignment | undefined,
  place: Place,
  needs: HostNeeds = NO_NEEDS,
): Endpoints<Host> {
  return compileEndpoints(assignment, place, needs, (endpoint, host, at) => {
    const address = compileHostAddress(endpoint.address, at.field('address'), NO_DNS);
    const others = (endpoint.additional_addresses ?? []).flatMap((other, i) => {
      const where = at.field('additional_addresses').index(i);
      refuseOtherFields(where, other, ADDITIONAL);
      return compileAddress(other.address, where.field('address'), 'an address') ?? [];
    });
    if (!address) return undefined;
    host.address = address;
    host.check_address = checkAddress(endpoint, at, address);
    if (others.length > 0) {
      host.tried_addresses = inTryingOrder([address, ...others], needs.happyEyeballs ?? {});
    }
    return host;
  });
}

/** Endpoints that DNS is asked for; an IP address is its own answer. */
export function compileNames(
  assignment: ClusterLoadAssignment | undefined,
  place: Place,
  kind: 'STRICT_DNS' | 'LOGICAL_DNS',
  needs: HostNeeds = NO_NEEDS,
): Endpoints<DnsEndpoint> {
  const { localName, ...others } = needs;
  // As the real server, which does not look at the priority of an only host.
  const ofKind = kind === 'LOGICAL_DNS' || localName === undefined ? others : needs;
  return compileEndpoints(assignment, place, ofKind, (endpoint, host, at) => {
    if (endpoint.address?.socket_address?.resolver_name) {
      at.field('address')
        .field('socket_address')
        .field('resolver_name')
        .error(`${kind} clusters must NOT have a custom resolver name set`);
    }
    if (endpoint.additional_addresses) {
      at.field('additional_addresses').error(
        'further addresses of a host that DNS is asked for are not supported yet',
        { expected: 'none, or a cluster of the type STATIC or EDS' },
      );
    }
    const isInternal = endpoint.address?.envoy_internal_address !== undefined;
    const address = isInternal
      ? {}
      : compileAddressOrName(endpoint.address, at.field('address'), HOST_SOCKET);
    if (address === undefined) return undefined;
    // As in the real server, a pipe has no name that DNS could be asked for, and is never there.
    const hostname = nameOf(address);
    return {
      hostname,
      port: hostname === '' ? 0 : (address.port ?? 0),
      host: { ...host, hostname: host.hostname || hostname },
      checkPort: endpoint.health_check_config?.port_value ?? 0,
    };
  });
}

function nameOf(address: Address | HostName): string {
  if ('hostname' in address) return address.hostname;
  return address.ip ? formatIp(address.ip) : '';
}

function compileEndpoints<T>(
  assignment: ClusterLoadAssignment | undefined,
  place: Place,
  needs: HostNeeds,
  compile: (endpoint: Endpoint, host: NewHost, place: Place) => T | undefined,
): Endpoints<T> {
  const all: T[] = [];
  if (assignment) refuseOtherFields(place, assignment, ASSIGNMENT);
  const localities = assignment?.endpoints ?? [];
  localities.forEach((locality, i) => {
    const at = place.field('endpoints').index(i);
    refuseOtherFields(at, locality, LOCALITY);
    if (needs.localName !== undefined && (locality.priority ?? 0) > 0) {
      at.field('priority').error(
        `Unexpected non-zero priority for local cluster '${needs.localName}'.`,
      );
    }
    (locality.lb_endpoints ?? []).forEach((message, j) => {
      const where = at.field('lb_endpoints').index(j);
      refuseOtherFields(where, message, LB_ENDPOINT);
      const endpoint = message.endpoint ?? {};
      refuseOtherFields(where.field('endpoint'), endpoint, ENDPOINT);
      if (endpoint.health_check_config) {
        const check = where.field('endpoint').field('health_check_config');
        refuseOtherFields(check, endpoint.health_check_config, CHECK);
      }
      const proxy =
        proxyAddress(message.metadata, where.field('metadata')) ??
        proxyAddress(locality.metadata, at.field('metadata'));
      const host = hostOf(message, locality, needs, proxy);
      const compiled = compile(endpoint, host, where.field('endpoint'));
      if (compiled !== undefined) all.push(compiled);
    });
  });
  const count = localities.reduce((sum, { lb_endpoints: own = [] }) => sum + own.length, 0);
  const policy = compilePolicy(assignment?.policy ?? {}, place.field('policy'));
  return { all, policy, localities: localities.length, count };
}

/** Where it is checked, if not at its own address. */
function checkAddress(
  endpoint: Endpoint,
  place: Place,
  own: Address | undefined,
): Address | undefined {
  const { address: message, port_value: port = 0 } = endpoint.health_check_config ?? {};
  const at = place.field('health_check_config').field('address');
  const address = message ? compileAddress(message, at) : port > 0 ? own : undefined;
  return address && port > 0 ? { ...address, port } : address;
}

const PROXY = 'envoy.http11_proxy_transport_socket.proxy_address';

/** By which HTTP/1.1 proxy it is reached where a transport socket goes by one. */
function proxyAddress(metadata: Metadata | undefined, place: Place): Address | undefined {
  const message = metadata?.typed_filter_metadata?.[PROXY];
  if (!message) return undefined;
  const at = place.field('typed_filter_metadata').key(PROXY);
  if (message.$type !== 'envoy.config.core.v3.Address') {
    at.error(`${message.$type} is no address`, { expected: 'envoy.config.core.v3.Address' });
    return undefined;
  }
  return compileAddress(message as AddressMessage, at);
}

/** A host without its address. */
function hostOf(
  message: LbEndpoint,
  locality: LocalityLbEndpoints,
  needs: HostNeeds,
  proxy: Address | undefined,
): NewHost {
  return {
    // They come later: all hosts have the same fields in the same order.
    address: undefined,
    check_address: undefined,
    tried_addresses: undefined,
    proxy_address: proxy,
    hostname: message.endpoint?.hostname,
    observability_name: message.endpoint?.observability_name,
    weight: message.load_balancing_weight ?? 1,
    priority: locality.priority,
    health: HEALTH[nameOr(message.health_status, 'UNKNOWN')],
    region: locality.locality?.region,
    zone: locality.locality?.zone,
    sub_zone: locality.locality?.sub_zone,
    // As in the real server, which gives weights to places that are named.
    locality_weight: locality.locality && locality.load_balancing_weight,
    hash_key: hashKey(message.metadata),
    labels: hostLabels(message.metadata),
    list_labels: listLabels(message.metadata),
    socket_labels: socketLabels(message.metadata),
    check_hostname: message.endpoint?.health_check_config?.hostname,
    is_not_checked: message.endpoint?.health_check_config?.disable_active_health_check,
    locality_socket_labels: socketLabels(locality.metadata),
    socket_values: hostValues(needs, message.metadata, locality.metadata),
    metadata: allSpaces(message.metadata),
    tag_metadata: needs.tagNames?.metadataOf('host', message.metadata),
    canary: message.metadata?.filter_metadata?.['envoy.lb']?.['canary'] === true,
  };
}
