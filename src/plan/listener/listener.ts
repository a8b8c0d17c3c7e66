// Listeners: an address, and the filter chains that take its connections.
import type {
  envoy_config_listener_v3_FilterChain as FilterChainMessage,
  envoy_config_listener_v3_Listener as ListenerMessage,
  envoy_config_listener_v3_Listener_DeprecatedV1 as DeprecatedV1,
} from '../../../build/messages.gen.js';
import { compileAccessLogs } from '../access-log/access-log.js';
import { addressText } from '../address/address.js';
import { compileStatsChoice } from '../stats-choice.js';
import type { CompileContext } from '../extension.js';
import { metadataOf } from '../format/metadata-values.js';
import { compileChainTree } from './chain-tree.js';
import { compileFilterChain, refuseOverlaps, refuseSameNames } from './filter-chain.js';
import { refusePartialWildcards } from './filter-chain-match.js';
import { compileListenerFilters } from './listener-filters.js';
import { addressesText, compileAddresses, compileBalance } from './listen-sockets.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import {
  Listener_Direction,
  Listener_DrainType,
  type Address,
  type FilterChain,
  type ListenAddress,
  type Listener,
  type ListenerFilter,
} from '../plan.gen.js';
import { refuseOtherFields, supportedFields, typesIn } from '../message/supported-fields.js';
import { nameOr } from '../message/open-enum.js';

// Metadata is read where it is asked for.
const LISTENER = supportedFields<ListenerMessage>('envoy.config.listener.v3.Listener', [
  'name',
  'address',
  'stat_prefix',
  'filter_chains',
  'default_filter_chain',
  'filter_chain_matcher',
  'per_connection_buffer_limit_bytes',
  'metadata',
  'deprecated_v1',
  'use_original_dst',
  'listener_filters',
  'listener_filters_timeout',
  'continue_on_listener_filters_timeout',
  'transparent',
  'freebind',
  'tcp_fast_open_queue_length',
  'traffic_direction',
  'reuse_port',
  'enable_reuse_port',
  'access_log',
  'tcp_backlog_size',
  'max_connections_to_accept_per_socket_event',
  'bind_to_port',
  'ignore_global_conn_limit',
  'bypass_overload_manager',
  'drain_type',
  'socket_options',
  'internal_listener',
  'additional_addresses',
  'tcp_keepalive',
  'enable_mptcp',
  'connection_balance_config',
  'per_connection_buffer_high_watermark_timeout',
  'stats_matcher',
  // Only listeners of UDP ask for it.
  'udp_listener_config',
]);
const DEPRECATED_V1 = supportedFields<DeprecatedV1>(
  'envoy.config.listener.v3.Listener.DeprecatedV1',
  ['bind_to_port'],
);

const DEFAULT_BUFFER_LIMIT_BYTES = 1024 * 1024;
const DEFAULT_FILTERS_TIMEOUT_MS = 15_000;
const UNLIMITED = Number.MAX_SAFE_INTEGER;
/** As many as the kernel allows (net.core.somaxconn). */
const BACKLOG_OF_KERNEL = 0x7fff_ffff;

/** What becomes of a filter chain. */
export type CompileChain = (
  message: FilterChainMessage,
  place: Place,
  isDefault: boolean,
) => FilterChain;

/** Undefined after some errors. */
export function compileListener(
  message: ListenerMessage,
  place: Place,
  context: CompileContext,
  compileChain: CompileChain = (chain, at) => compileFilterChain(chain, at, context),
): Listener | undefined {
  if (message.address?.socket_address?.protocol === 'UDP') {
    refuseUdp(message, place);
    return undefined;
  }
  refuseOtherFields(place, message, LISTENER);
  const name = message.name || crypto.randomUUID();
  const addresses = message.internal_listener
    ? compileInternal(message, name, place, context)
    : compileAddresses(message, place);
  const address = addresses?.[0]?.address;
  if (!addresses || !address) return undefined;
  const chains = compileFilterChains(message, addressesText(addresses), place, compileChain);
  const tree = message.filter_chain_matcher;
  if (message.deprecated_v1)
    refuseOtherFields(place.field('deprecated_v1'), message.deprecated_v1, DEPRECATED_V1);
  const connectionLimit = context.runtime.liveNumber(
    `envoy.resource_limits.listener.${name}.connection_limit`,
    UNLIMITED,
  );
  return {
    name,
    stat_name: message.stat_prefix || statName(address),
    address,
    // Two sockets cannot share the path of a pipe.
    reuse_port: address.ip !== undefined && (message.enable_reuse_port ?? true),
    backlog: message.tcp_backlog_size ?? BACKLOG_OF_KERNEL,
    per_connection_buffer_limit_bytes:
      message.per_connection_buffer_limit_bytes ?? DEFAULT_BUFFER_LIMIT_BYTES,
    direction: Listener_Direction[nameOr(message.traffic_direction, 'UNSPECIFIED')],
    drain_type: Listener_DrainType[nameOr(message.drain_type, 'DEFAULT')],
    filter_chains: chains,
    ...(tree && { chain_tree: compileChainTree(tree, place.field('filter_chain_matcher')) }),
    transparent: message.transparent,
    freebind: message.freebind,
    max_connections: connectionLimit.value,
    max_connections_slot: connectionLimit.slot,
    ignores_connection_limit: message.ignore_global_conn_limit,
    bypasses_overload: message.bypass_overload_manager,
    pipe_mode: addresses[0]?.pipe_mode,
    network_namespace: addresses[0]?.network_namespace,
    more_addresses: addresses.slice(1),
    mptcp: message.enable_mptcp,
    ...compileBalance(
      message.connection_balance_config,
      place.field('connection_balance_config'),
      name,
    ),
    buffer_high_watermark_timeout_ms: wholeMs(
      message.per_connection_buffer_high_watermark_timeout,
      0,
    ),
    ...compileStatsChoice(message.stats_matcher, place.field('stats_matcher')),
    max_connections_to_accept_per_socket_event: message.max_connections_to_accept_per_socket_event,
    access_logs: compileAccessLogs(
      message.access_log,
      'listener_log',
      place.field('access_log'),
      context,
    ),
    tcp_fast_open_queue_length: message.tcp_fast_open_queue_length,
    socket_options: addresses[0]?.socket_options,
    listener_filters: [
      ...compileListenerFilters(message.listener_filters, place.field('listener_filters'), context),
      // It goes by what this filter finds.
      ...(message.use_original_dst ? [{ original_dst: {} }] : []),
      ...implicitProxyProtocol(message, place),
    ],
    listener_filters_timeout_ms: wholeMs(
      message.listener_filters_timeout,
      DEFAULT_FILTERS_TIMEOUT_MS,
    ),
    continue_on_listener_filters_timeout: message.continue_on_listener_filters_timeout,
    unbound:
      address.internal_listener !== undefined ||
      (message.bind_to_port ?? message.deprecated_v1?.bind_to_port) === false,
    internal_buffer_bytes:
      address.internal_listener === undefined ? 0 : context.internalListeners?.bufferBytes,
    hands_on_redirected: message.use_original_dst,
    ...metadataOf(message.metadata),
  };
}

/** Nothing else of it is looked at: what it must have is not what a listener of TCP must. */
function refuseUdp(message: ListenerMessage, place: Place): void {
  const { udp_listener_config: udp, filter_chains: chains, listener_filters: filters } = message;
  const used = typesIn([udp, chains?.map(({ transport_socket: socket }) => socket), filters]);
  place
    .field('address')
    .field('socket_address')
    .field('protocol')
    .error(
      `UDP as the protocol of envoy.config.core.v3.SocketAddress is not supported yet${used}`,
      {
        expected: 'TCP',
      },
    );
}

/** "127.0.0.1_10000", "[__1]_10000", the path of a pipe: how statistics call a listener. */
export function statName(address: Address): string {
  if (address.internal_listener) return `envoy_internal_${address.internal_listener}`;
  return addressText(address).replaceAll(':', '_');
}

/** One whose connections come from clusters of this process. */
function compileInternal(
  message: ListenerMessage,
  name: string,
  place: Place,
  { internalListeners: extension }: CompileContext,
): readonly ListenAddress[] | undefined {
  const refuse = (field: keyof ListenerMessage, text: string, expected: string): void =>
    place.field(field).error(text, { expected });
  const other = message.address
    ? 'address'
    : message.additional_addresses?.length && 'additional_addresses';
  if (other) {
    refuse(
      other,
      `error adding listener '${name}': address should not be used when an internal listener config is provided`,
      'no address',
    );
    return undefined;
  }
  if (!extension) {
    refuse(
      'internal_listener',
      `error adding listener named '${name}': InternalListener bootstrap extension is mandatory`,
      'bootstrap_extensions with envoy.bootstrap.internal_listener',
    );
    return undefined;
  }
  if (message.socket_options) {
    refuse(
      'socket_options',
      `error adding listener named '${name}': does not support socket option`,
      'none: an internal listener has no socket',
    );
    return undefined;
  }
  return [{ address: { internal_listener: name } }];
}

/** Whom clients are is told by the protocol, where the first chain says so. */
function implicitProxyProtocol(
  { filter_chains: chains }: ListenerMessage,
  place: Place,
): ListenerFilter[] {
  if (!chains?.[0]?.use_proxy_proto) return [];
  place
    .field('filter_chains')
    .index(0)
    .field('use_proxy_proto')
    .warn(
      "using deprecated field 'use_proxy_proto' is dangerous as it does not respect listener filter order. Do not use this field and instead configure the proxy proto listener filter directly.",
    );
  return [{ proxy_protocol: {} }];
}

function compileFilterChains(
  message: ListenerMessage,
  text: string,
  place: Place,
  compileChain: CompileChain,
): FilterChain[] {
  const messages = message.filter_chains ?? [];
  const at = place.field('filter_chains');
  const chains = messages.map((chain, index) => compileChain(chain, at.index(index), false));
  messages.forEach(({ filter_chain_match: match = {} }, index) =>
    refusePartialWildcards(match, text, at.index(index).field('filter_chain_match')),
  );
  // A tree tells chains apart in its own way.
  if (message.filter_chain_matcher) refuseSameNames(messages, text, at);
  else refuseOverlaps(messages, chains, text, at);
  if (message.default_filter_chain) {
    const at = place.field('default_filter_chain');
    const fallback = compileChain(message.default_filter_chain, at, true);
    chains.push({ ...fallback, is_default: true });
  }
  if (chains.length === 0 && !message.udp_listener_config) {
    place.error(`error adding listener '${text}': no filter chains specified`, {
      expected: 'filter_chains or default_filter_chain',
    });
  }
  return chains;
}
