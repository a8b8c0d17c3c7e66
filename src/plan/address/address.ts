// Addresses of listeners and hosts, and ranges of addresses.
import type {
  envoy_config_core_v3_Address as AddressMessage,
  envoy_config_core_v3_CidrRange as CidrMessage,
  envoy_config_core_v3_EnvoyInternalAddress as InternalAddress,
  envoy_config_core_v3_Pipe as Pipe,
  envoy_config_core_v3_SocketAddress as SocketAddress,
} from '../../../build/messages.gen.js';
import { formatIp, parseIp } from './ip.js';
import type { Place } from '../message/place.js';
import type { Address, CidrRange } from '../plan.gen.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

const ADDRESS = supportedFields<AddressMessage>('envoy.config.core.v3.Address', [
  'socket_address',
  'pipe',
]);
// Only sockets that listen have a use for ipv4_compat. Resolvers and ports by name are checked where
// they would be asked.
const SOCKET_FIELDS = [
  'address',
  'port_value',
  'ipv4_compat',
  'resolver_name',
  'named_port',
] as const;
const SOCKET_ADDRESS = supportedFields<SocketAddress>(
  'envoy.config.core.v3.SocketAddress',
  SOCKET_FIELDS,
  { protocol: 'TCP' },
);
// Of what protocol it is says the connection that is bound to it.
const SOURCE_ADDRESS = supportedFields<SocketAddress>('envoy.config.core.v3.SocketAddress', [
  ...SOCKET_FIELDS,
  'protocol',
]);
const LISTEN_ADDRESS = supportedFields<SocketAddress>(
  'envoy.config.core.v3.SocketAddress',
  [...SOCKET_FIELDS, 'network_namespace_filepath'],
  { protocol: 'TCP' },
);
/** Of hosts, to which connections are made, whatever is said there. */
export const HOST_SOCKET = supportedFields<SocketAddress>('envoy.config.core.v3.SocketAddress', [
  ...SOCKET_FIELDS,
  'network_namespace_filepath',
  'protocol',
]);
/** The resolver of addresses that are written as numbers: the only one that there is. */
const IP_RESOLVER = 'envoy.ip';
const HOST_ADDRESS = supportedFields<AddressMessage>('envoy.config.core.v3.Address', [
  'socket_address',
  'pipe',
  'envoy_internal_address',
]);
const INTERNAL = supportedFields<InternalAddress>('envoy.config.core.v3.EnvoyInternalAddress', [
  'server_listener_name',
  'endpoint_id',
]);
const PIPE = supportedFields<Pipe>('envoy.config.core.v3.Pipe', ['path', 'mode']);

/** A host by a name that DNS has to answer. */
export interface HostName {
  readonly hostname: string;
  readonly port: number;
}

/** As compileAddress(); in whatever network namespace. */
export function compileListenAddress(message: AddressMessage, place: Place): Address | undefined {
  return compileAddress(message, place, undefined, LISTEN_ADDRESS);
}

/** An IP address or a pipe. `nameHint` is what may be written for a name to be taken. */
export function compileAddress(
  message: AddressMessage | undefined,
  place: Place,
  nameHint?: string,
  fields = SOCKET_ADDRESS,
): Address | undefined {
  const socket = message?.socket_address;
  if (socket) checkResolver(socket, place.field('socket_address'), nameHint);
  const address = compileAddressOrName(message, place, fields);
  if (address === undefined || !('hostname' in address)) return address;
  refuseName(address.hostname, place.field('socket_address'), nameHint);
  return undefined;
}

/** As compileAddress(); also a listener of this process. */
export function compileHostAddress(
  message: AddressMessage | undefined,
  place: Place,
  nameHint?: string,
): Address | undefined {
  const internal = message?.envoy_internal_address;
  const namespace = message?.socket_address?.network_namespace_filepath;
  if (namespace) {
    place
      .field('socket_address')
      .field('network_namespace_filepath')
      .error(
        'Invalid host configuration: hosts cannot specify network namespaces with their address',
      );
  }
  if (!internal) return compileAddress(message, place, nameHint, HOST_SOCKET);
  refuseOtherFields(place, message, HOST_ADDRESS);
  refuseOtherFields(place.field('envoy_internal_address'), internal, INTERNAL);
  return {
    internal_listener: internal.server_listener_name,
    ...(internal.endpoint_id && { endpoint_id: internal.endpoint_id }),
  };
}

/** `place`: of the socket address. */
function checkResolver(
  { resolver_name: resolver, named_port: port }: SocketAddress,
  place: Place,
  nameHint: string | undefined,
): void {
  if (resolver && resolver !== IP_RESOLVER) {
    place.field('resolver_name').error(`Unknown address resolver: ${resolver}`, {
      expected: IP_RESOLVER,
    });
  } else if (port !== undefined) {
    const hint =
      nameHint === undefined
        ? ''
        : ". Consider setting resolver_name or setting cluster type to 'STRICT_DNS' or 'LOGICAL_DNS'";
    place
      .field('named_port')
      .error(`IP resolver can't handle port specifier type 4${hint}`, { expected: 'port_value' });
  }
}

/** `place`: of the socket address. */
function refuseName(name: string, place: Place, nameHint?: string): void {
  const literal = name === 'localhost' ? '127.0.0.1 or ::1' : 'an IPv4 or IPv6 address';
  place.field('address').error(`malformed IP address: ${name}`, {
    expected: nameHint === undefined ? literal : `${literal}, or ${nameHint}`,
  });
}

/** Also takes what is no IP address, for DNS to answer. */
export function compileAddressOrName(
  message: AddressMessage | undefined,
  place: Place,
  fields = SOCKET_ADDRESS,
): Address | HostName | undefined {
  if (message === undefined) {
    place.error('address is necessary', { expected: 'socket_address or pipe' });
    return undefined;
  }
  refuseOtherFields(place, message, ADDRESS);
  if (message.pipe) {
    refuseOtherFields(place.field('pipe'), message.pipe, PIPE);
    const path = message.pipe.path ?? '';
    checkPipePath(path, place.field('pipe').field('path'));
    if (message.pipe.mode && path.startsWith('@')) {
      const mode = place.field('pipe').field('mode');
      mode.error('Cannot set mode for Abstract AF_UNIX sockets', { expected: 'no mode' });
    }
    return { pipe: path };
  }
  if (message.socket_address)
    return compileSocketAddress(message.socket_address, place.field('socket_address'), fields);
  return undefined;
}

/** As long as the kernel takes it (sockaddr_un), its end included; "@" begins an abstract name. */
const MAX_PIPE_PATH_BYTES = 107;

function checkPipePath(path: string, place: Place): void {
  if (Buffer.byteLength(path) > MAX_PIPE_PATH_BYTES) {
    place.error(`Path "${path}" exceeds maximum UNIX domain socket path size of 108.`, {
      expected: `at most ${MAX_PIPE_PATH_BYTES} bytes`,
    });
  } else if (path.includes('\0') && !path.startsWith('@')) {
    place.error('UNIX domain socket pathname contains embedded null characters');
  }
}

/** Where connections come from: an IP address, its port may be 0. */
export function compileSourceAddress(message: SocketAddress, place: Place): Address | undefined {
  checkResolver(message, place, undefined);
  const address = compileSocketAddress(message, place, SOURCE_ADDRESS);
  if (!('hostname' in address)) return address;
  refuseName(address.hostname, place);
  return undefined;
}

function compileSocketAddress(
  message: SocketAddress,
  place: Place,
  fields: typeof SOCKET_ADDRESS,
): Address | HostName {
  refuseOtherFields(place, message, fields);
  const text = message.address ?? '';
  const port = message.port_value ?? 0;
  const ip = parseIp(text);
  return ip ? { ip, port } : { hostname: text, port };
}

/** "127.0.0.1:80", "[::1]:80", the path of a pipe, or "envoy://listener/endpoint". */
export function addressText(address: Address): string {
  if (address.internal_listener) {
    return `envoy://${address.internal_listener}/${address.endpoint_id ?? ''}`;
  }
  if (!address.ip) return address.pipe ?? '';
  const ip = formatIp(address.ip);
  return address.ip.length === 4 ? `${ip}:${address.port ?? 0}` : `[${ip}]:${address.port ?? 0}`;
}

/** A range with the bits below its prefix cleared; a prefix that is too long is the whole address. */
export function compileCidrRange(message: CidrMessage, place: Place): CidrRange | undefined {
  const text = message.address_prefix ?? '';
  const ip = parseIp(text);
  if (!ip) {
    place.field('address_prefix').error(`malformed IP address: ${text}`, {
      expected: 'an IPv4 or IPv6 address',
    });
    return undefined;
  }
  const prefixLength = Math.min(message.prefix_len ?? 0, ip.length * 8);
  const masked = ip.map((byte, index) => {
    const bits = Math.max(0, Math.min(8, prefixLength - index * 8));
    return byte & (0xff << (8 - bits));
  });
  return { ip: masked, prefix_length: prefixLength };
}

export function compileCidrRanges(
  messages: readonly CidrMessage[] | undefined,
  place: Place,
): CidrRange[] {
  return (messages ?? []).flatMap(
    (message, index) => compileCidrRange(message, place.index(index)) ?? [],
  );
}
