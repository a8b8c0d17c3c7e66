// Filter chains of a listener: a match, and the network filter that takes the connection.
import type {
  envoy_config_listener_v3_Filter as FilterMessage,
  envoy_config_listener_v3_FilterChain as FilterChainMessage,
} from '../../../build/messages.gen.js';
import { findExtension, type CompileContext } from '../extension.js';
import { metadataOf } from '../format/metadata-values.js';
import { RAW_BUFFER } from '../raw-buffer.js';
import { combinationsOf, compileFilterChainMatch } from './filter-chain-match.js';
import type { NetworkFilterPlan } from '../extension-plans.js';
import type { Place } from '../message/place.js';
import { wholeMs } from '../message/numbers.js';
import type { FilterChain } from '../plan.gen.js';
import type { TlsSocketPlan } from '../tls-socket.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

// How long a transport may take to connect only counts for one that does so: TLS.
const CHAIN = supportedFields<FilterChainMessage>('envoy.config.listener.v3.FilterChain', [
  'filter_chain_match',
  'filters',
  'metadata',
  'transport_socket',
  'transport_socket_connect_timeout',
  'name',
  // Of the first chain; its listener looks at it.
  'use_proxy_proto',
]);
const FILTER = supportedFields<FilterMessage>('envoy.config.listener.v3.Filter', [
  'name',
  'typed_config',
]);

export function compileFilterChain(
  message: FilterChainMessage,
  place: Place,
  context: CompileContext,
): FilterChain {
  refuseOtherFields(place, message, CHAIN);
  const socket = compileSocket(message, place.field('transport_socket'), context);
  const match = message.filter_chain_match;
  const filters = message.filters ?? [];
  const plan = compileFilters(filters, place.field('filters'), context);
  const tls = typeof socket === 'object' ? socket : undefined;
  if (tls) context.addTls(tls);
  return {
    name: message.name,
    match: match && compileFilterChainMatch(match, place.field('filter_chain_match')),
    ...plan,
    ...metadataOf(message.metadata),
    ...(tls && {
      tls: tls.context,
      handshake_timeout_ms: wholeMs(message.transport_socket_connect_timeout, 0),
    }),
  };
}

/** True: bytes in the clear. Undefined after an error. */
function compileSocket(
  message: FilterChainMessage,
  place: Place,
  context: CompileContext,
): true | TlsSocketPlan | undefined {
  const config = message.transport_socket ?? RAW_BUFFER;
  const extension = findExtension(context, 'downstreamTransportSockets', config, place);
  return (
    config.typed_config &&
    extension?.compile(config.typed_config, place.field('typed_config'), context)
  );
}

/** One of them ends the chain, and is the last; others before it only say something of it. */
function compileFilters(
  filters: readonly FilterMessage[],
  place: Place,
  context: CompileContext,
): NetworkFilterPlan {
  let plan: NetworkFilterPlan = {};
  filters.forEach((filter, index) => {
    const at = place.index(index);
    refuseOtherFields(at, filter, FILTER);
    const extension = findExtension(context, 'networkFilters', filter, at);
    if (!extension || !filter.typed_config) return;
    const part = extension.compile(filter.typed_config, at.field('typed_config'), context);
    const isTerminal =
      part.cluster_of_server_name === undefined &&
      part.gates === undefined &&
      part.guards === undefined &&
      part.states === undefined &&
      part.server_name_lookup === undefined;
    const isLast = index === filters.length - 1;
    const name = `${filter.name ?? ''} of type ${extension.name}`;
    if (isTerminal && !isLast) {
      at.error(
        `Error: terminal filter named ${name} must be the last filter in a network filter chain.`,
      );
    }
    if (!isTerminal && isLast) {
      at.error(
        `Error: non-terminal filter named ${name} is the last filter in a network filter chain.`,
      );
    }
    const gates = [...(plan.gates ?? []), ...(part.gates ?? [])];
    const states = [...(plan.states ?? []), ...(part.states ?? [])];
    const guards = [...(plan.guards ?? []), ...(part.guards ?? [])];
    plan = {
      ...plan,
      ...part,
      ...(states.length > 0 && { states }),
      ...(gates.length > 0 && { gates }),
      ...(guards.length > 0 && { guards }),
    };
  });
  return plan;
}

/** An error at each chain that takes what a chain before it takes already. */
export function refuseOverlaps(
  messages: readonly FilterChainMessage[],
  chains: readonly FilterChain[],
  place: Place,
): void {
  const owners = new Map<string, number>();
  chains.forEach((chain, index) => {
    const combinations = combinationsOf(chain.match ?? {});
    const owner = combinations.map((text) => owners.get(text)).find((found) => found !== undefined);
    if (owner !== undefined) {
      const same = isSame(messages[owner]?.filter_chain_match, messages[index]?.filter_chain_match);
      place
        .index(index)
        .error(
          same
            ? `filter chain '${chain.name ?? ''}' has the same matching rules defined as '${chains[owner]?.name ?? ''}'`
            : 'multiple filter chains with overlapping matching rules are defined',
          {
            expected: `another filter_chain_match than that of filter_chains[${owner}]`,
            related: place.index(owner),
          },
        );
    }
    if (owner === undefined && new Set(combinations).size < combinations.length) {
      place
        .index(index)
        .field('filter_chain_match')
        .error('multiple filter chains with overlapping matching rules are defined', {
          expected: 'each criterion once',
        });
    }
    for (const text of combinations) if (!owners.has(text)) owners.set(text, index);
  });
}

/** Where a tree names them: an error at each chain without a name, or with that of another. */
export function refuseSameNames(
  messages: readonly FilterChainMessage[],
  listener: string,
  place: Place,
): void {
  const names = new Set<string>();
  messages.forEach(({ name = '' }, index) => {
    const wrong =
      name === ''
        ? '"name" field is required when using a listener matcher'
        : names.has(name) && `"name" field is duplicated with value '${name}'`;
    if (wrong) place.index(index).error(`error adding listener '${listener}': ${wrong}`);
    names.add(name);
  });
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? {}) === JSON.stringify(other ?? {});
}
