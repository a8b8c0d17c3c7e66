// Options of sockets that the configuration names by their numbers.
import type {
  envoy_config_core_v3_Address as AddressMessage,
  envoy_config_core_v3_SocketOption as SocketOptionMessage,
  envoy_config_core_v3_TcpKeepalive as TcpKeepalive,
} from '../../../build/messages.gen.js';
import type { SocketOption } from '../../native.js';

const STATES = { STATE_PREBIND: 0, STATE_BOUND: 1, STATE_LISTENING: 2 } as const;

/** Those that concern a stream socket of this address; without an IP it is a pipe's. */
export function compileSocketOptions(
  options: readonly SocketOptionMessage[],
  ip: Uint8Array | undefined,
): readonly SocketOption[] {
  return options.filter((option) => concerns(option, ip)).map(compileOption);
}

const IPPROTO_IPV6 = 41;
const IPV6_V6ONLY = 26;

/** That a socket of IPv6 takes clients of IPv4 as well; nothing for another, or where that is not asked. */
export function ipv4Compatibility(
  address: AddressMessage | undefined,
  ip: Uint8Array | undefined,
): readonly SocketOption[] {
  if (!address?.socket_address?.ipv4_compat || ip?.length !== 16) return [];
  return [{ level: IPPROTO_IPV6, name: IPV6_V6ONLY, value: intBytes(0), state: 0 }];
}

const SOL_SOCKET = 1;
const SO_KEEPALIVE = 9;
const IPPROTO_TCP = 6;
const TCP_KEEPIDLE = 4;
const TCP_KEEPINTVL = 5;
const TCP_KEEPCNT = 6;

/** Any number that is 0 switches it off, as in the real server. */
export function keepaliveOptions(keepalive: TcpKeepalive): readonly SocketOption[] {
  const numbers = [
    [TCP_KEEPCNT, keepalive.keepalive_probes],
    [TCP_KEEPIDLE, keepalive.keepalive_time],
    [TCP_KEEPINTVL, keepalive.keepalive_interval],
  ] as const;
  if (numbers.some(([, number]) => number === 0)) return [];
  return [
    { level: SOL_SOCKET, name: SO_KEEPALIVE, value: intBytes(1), state: 0 },
    ...numbers.flatMap(([name, number]) =>
      number === undefined
        ? []
        : { level: IPPROTO_TCP, name, value: intBytes(number), state: 0 as const },
    ),
  ];
}

function concerns(
  { type, ip_version: version }: SocketOptionMessage,
  ip: Uint8Array | undefined,
): boolean {
  if (type?.datagram && !type.stream) return false;
  if (version === 'SOCKET_IP_VERSION_IPV4') return ip?.length === 4;
  if (version === 'SOCKET_IP_VERSION_IPV6') return ip?.length === 16;
  return true;
}

function compileOption(option: SocketOptionMessage): SocketOption {
  const { level = 0, name = 0, int_value: number = 0, buf_value: bytes } = option;
  const value = bytes ?? intBytes(number);
  return {
    level: int32(level),
    name: int32(name),
    value,
    state: STATES[option.state ?? 'STATE_PREBIND'],
  };
}

/** An int of C, in this machine's order; of more bits the lower ones count. */
function intBytes(number: number): Uint8Array {
  return new Uint8Array(Int32Array.of(int32(number)).buffer);
}

const int32 = (number: number): number => Number(BigInt.asIntN(32, BigInt(number)));
