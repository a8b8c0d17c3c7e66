// Where a listener listens, and how its sockets are set up.
import type {
  envoy_config_core_v3_Address as AddressMessage,
  envoy_config_core_v3_SocketOption as SocketOptionMessage,
  envoy_config_core_v3_SocketOptionsOverride as OptionsOverride,
  envoy_config_core_v3_TcpKeepalive as TcpKeepalive,
  envoy_config_listener_v3_AdditionalAddress as AdditionalAddress,
  envoy_config_listener_v3_Listener as ListenerMessage,
  envoy_config_listener_v3_Listener_ConnectionBalanceConfig as BalanceConfig,
} from '../../../build/messages.gen.js';
import { addressText, compileListenAddress } from '../address/address.js';
import {
  compileSocketOptions,
  ipv4Compatibility,
  keepaliveOptions,
} from '../address/socket-options.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { Address, ListenAddress, Listener, SocketOption } from '../plan.gen.js';

const ADDITIONAL = supportedFields<AdditionalAddress>(
  'envoy.config.listener.v3.AdditionalAddress',
  ['address', 'socket_options', 'tcp_keepalive'],
);
const OVERRIDE = supportedFields<OptionsOverride>('envoy.config.core.v3.SocketOptionsOverride', [
  'socket_options',
]);
const KEEPALIVE = supportedFields<TcpKeepalive>('envoy.config.core.v3.TcpKeepalive', [
  'keepalive_probes',
  'keepalive_time',
  'keepalive_interval',
]);
const BALANCE = supportedFields<BalanceConfig>(
  'envoy.config.listener.v3.Listener.ConnectionBalanceConfig',
  ['exact_balance', 'extend_balance', 'cpu_locality_balance'],
);

/** All of its addresses, its own first. Undefined after an error. */
export function compileAddresses(
  message: ListenerMessage,
  place: Place,
): readonly ListenAddress[] | undefined {
  const { name = '' } = message;
  if (message.address === undefined) {
    place.error(`error adding listener named '${name}': address is necessary`, {
      expected: 'address with socket_address or pipe',
    });
    return undefined;
  }
  if (message.tcp_keepalive)
    refuseOtherFields(place.field('tcp_keepalive'), message.tcp_keepalive, KEEPALIVE);
  const own: AdditionalAddress = { address: message.address };
  const first = compileOne(own, place, message);
  const others = (message.additional_addresses ?? []).map((one, index) => {
    const at = place.field('additional_addresses').index(index);
    refuseOtherFields(at, one, ADDITIONAL);
    if (one.socket_options)
      refuseOtherFields(at.field('socket_options'), one.socket_options, OVERRIDE);
    if (one.tcp_keepalive)
      refuseOtherFields(at.field('tcp_keepalive'), one.tcp_keepalive, KEEPALIVE);
    return compileOne(one, at, message);
  });
  const all = [first, ...others].filter((address) => address !== undefined);
  if (all.length <= others.length) return undefined;
  checkMptcp(message, all, place);
  return all;
}

function compileOne(
  one: AdditionalAddress,
  place: Place,
  listener: ListenerMessage,
): ListenAddress | undefined {
  const { name = '' } = listener;
  const { socket_address: socket, envoy_internal_address: internal } = one.address ?? {};
  const at = place.field('address');
  if (internal) {
    at.error(
      `error adding listener named '${name}': use internal_listener field instead of address for internal listeners`,
      { expected: 'internal_listener: {}, and no address' },
    );
    return undefined;
  }
  if (socket?.protocol === 'UDP') {
    at.field('socket_address')
      .field('protocol')
      .error(
        `listener ${name}: has different socket type. The listener only support same socket type for all the addresses.`,
        { expected: 'TCP' },
      );
    return undefined;
  }
  const address = compileListenAddress(one.address as AddressMessage, at);
  if (!address) return undefined;
  if (socket?.ipv4_compat && !mayTakeIpv4(address.ip)) {
    at.field('socket_address')
      .field('ipv4_compat')
      .error(
        `Only IPv6 address '::' or valid IPv4-mapped IPv6 address can set ipv4_compat: ${addressText(address)}`,
      );
  }
  return {
    address,
    pipe_mode: one.address?.pipe?.mode,
    network_namespace: socket?.network_namespace_filepath,
    socket_options: optionsOf(one, address, listener),
  };
}

const MAPPED_PREFIX = Buffer.from('00000000000000000000ffff', 'hex');

/** Any address of IPv6, or one of IPv4 as IPv6 writes it. */
function mayTakeIpv4(ip: Uint8Array | undefined): boolean {
  if (ip?.length !== 16) return false;
  return ip.every((byte) => byte === 0) || MAPPED_PREFIX.equals(ip.subarray(0, 12));
}

/** Those of the listener, where an address says nothing of its own. */
function optionsOf(
  one: AdditionalAddress,
  { ip }: Address,
  listener: ListenerMessage,
): SocketOption[] {
  const configured: readonly SocketOptionMessage[] =
    (one.socket_options ? one.socket_options.socket_options : listener.socket_options) ?? [];
  const keepalive = one.tcp_keepalive ?? listener.tcp_keepalive;
  return [
    ...ipv4Compatibility(one.address, ip),
    ...(ip && keepalive ? keepaliveOptions(keepalive) : []),
    ...compileSocketOptions(configured, ip),
  ].map((option) => ({ ...option, level: option.level >>> 0, name: option.name >>> 0 }));
}

function checkMptcp(
  message: ListenerMessage,
  addresses: readonly ListenAddress[],
  place: Place,
): void {
  if (!message.enable_mptcp || addresses.every(({ address }) => address?.ip)) return;
  place
    .field('enable_mptcp')
    .error(`listener ${message.name ?? ''}: enable_mptcp can only be used with IP addresses`);
}

/** Of a plan: all of them, its own first. */
export function addressesOf(plan: Listener): readonly ListenAddress[] {
  const { address, socket_options, more_addresses = [] } = plan;
  return [{ address, socket_options }, ...more_addresses];
}

/** As the real server names a listener by where it listens. */
export const addressesText = (addresses: readonly ListenAddress[]): string =>
  addresses.map(({ address }) => addressText(address ?? {})).join(',');

/** Those that no other listener can have, as texts: of port 0 each gets another. */
export function fixedAddresses(plan: Listener): readonly string[] {
  return addressesOf(plan).flatMap(({ address = {} }) =>
    address.port === 0 ? [] : addressText(address),
  );
}

/** How connections are shared out among workers. */
export function compileBalance(
  config: BalanceConfig | undefined,
  place: Place,
  listener: string,
): Pick<Listener, 'balances_exactly'> {
  if (!config) return {};
  refuseOtherFields(place, config, BALANCE);
  if (config.extend_balance) {
    const type = config.extend_balance.typed_config?.$type ?? '';
    place
      .field('extend_balance')
      .error(`Didn't find a registered implementation for type: '${type}'`, {
        expected: 'exact_balance',
      });
  }
  if (config.cpu_locality_balance) {
    place
      .field('cpu_locality_balance')
      .warn(
        `the CPU locality connection balancer is configured for TCP listener '${listener}' but reuse port BPF CPU steering is not active, so new connections are not steered to CPU-local workers.`,
      );
  }
  return { balances_exactly: config.exact_balance !== undefined };
}
