// Filter chains of a listener: a match, and the network filter that takes the connection.
import type {
  envoy_config_listener_v3_Filter as FilterMessage,
  envoy_config_listener_v3_FilterChain as FilterChainMessage,
} from '../../../build/messages.gen.js';
import { compileDiscovered } from '../discovered-config.js';
import { findExtension, type CompileContext } from '../extension.js';
import { metadataOf } from '../format/metadata-values.js';
import { RAW_BUFFER } from '../raw-buffer.js';
import { DiscoveredChain, mergeFilters, nextChainId, type ChangePart } from './discovered-chain.js';
import { combinationsOf, compileFilterChainMatch } from './filter-chain-match.js';
import type { NetworkFilterPlan } from '../extension-plans.js';
import type { Place } from '../message/place.js';
import { wholeMs } from '../message/numbers.js';
import type { FilterChain, Update } from '../plan.gen.js';
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
  'config_discovery',
]);

/** `id`: among all chains there ever are; absent: it needs none, unless filters of it come later. */
export function compileFilterChain(
  message: FilterChainMessage,
  place: Place,
  context: CompileContext,
  id?: number,
): FilterChain {
  refuseOtherFields(place, message, CHAIN);
  const socket = compileSocket(message, place.field('transport_socket'), context);
  const match = message.filter_chain_match;
  const filters = message.filters ?? [];
  const made = compileFilters(filters, place.field('filters'), context, id);
  const tls = typeof socket === 'object' ? socket : undefined;
  if (tls) context.addTls(tls);
  const rest = {
    name: message.name,
    match: match && compileFilterChainMatch(match, place.field('filter_chain_match')),
    ...metadataOf(message.metadata),
    ...(tls && {
      tls: tls.context,
      handshake_timeout_ms: wholeMs(message.transport_socket_connect_timeout, 0),
    }),
  };
  if ('discovered' in made) return made.discovered.plan(rest);
  return { ...rest, ...made.plan, ...(id !== undefined && { id }) };
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
  id: number | undefined,
): { readonly plan: NetworkFilterPlan } | { readonly discovered: DiscoveredChain } {
  // Filled once all of them are compiled.
  const chain: DiscoveredChain[] = [];
  const tell = (change: (one: DiscoveredChain) => void): Update => {
    for (const one of chain) change(one);
    return { changed_filter_chains: chain.map((one) => one.plan()) };
  };
  let isChanged = false;
  const parts = filters.map((filter, index) => {
    const at = place.index(index);
    refuseOtherFields(at, filter, FILTER);
    const own = {
      ...context,
      changesChain: () => {
        isChanged = true;
        return (change: ChangePart) => tell((one) => one.change(index, change));
      },
    };
    const isLast = index === filters.length - 1;
    const { name = '', config_discovery: later } = filter;
    if (later) {
      isChanged = true;
      const discovery = at.field('config_discovery');
      return compileDiscovered<NetworkFilterPlan>(name, later, discovery, own, {
        kind: 'network_filter',
        filters: 'networkFilters',
        accept: (part, extension, where) =>
          checkOrder(part, `${name} of type ${extension.name}`, isLast, where) ? part : undefined,
        put: (part) => tell((one) => one.set(index, part)),
      });
    }
    const extension = findExtension(own, 'networkFilters', filter, at);
    if (!extension || !filter.typed_config) return undefined;
    const part = extension.compile(filter.typed_config, at.field('typed_config'), own);
    checkOrder(part, `${name} of type ${extension.name}`, isLast, at);
    return { first: part };
  });
  if (!isChanged) return { plan: mergeFilters(parts.flatMap((part) => part?.first ?? [])) };
  const discovered = new DiscoveredChain(
    id ?? nextChainId(),
    parts.map((part) => part?.first),
  );
  chain.push(discovered);
  return { discovered };
}

/** False: it may not stand there. */
function checkOrder(
  part: NetworkFilterPlan,
  named: string,
  isLast: boolean,
  place: Place,
): boolean {
  const isTerminal =
    part.cluster_of_server_name === undefined &&
    part.gates === undefined &&
    part.guards === undefined &&
    part.states === undefined &&
    part.server_name_lookup === undefined;
  if (isTerminal === isLast) return true;
  place.error(
    isTerminal
      ? `Error: terminal filter named ${named} must be the last filter in a network filter chain.`
      : `Error: non-terminal filter named ${named} is the last filter in a network filter chain.`,
  );
  return false;
}

/** An error at each chain that takes what a chain before it takes already. */
export function refuseOverlaps(
  messages: readonly FilterChainMessage[],
  chains: readonly FilterChain[],
  listener: string,
  place: Place,
): void {
  const owners = new Map<string, number>();
  const adding = `error adding listener '${listener}': `;
  const overlap = `${adding}multiple filter chains with overlapping matching rules are defined`;
  chains.forEach((chain, index) => {
    const combinations = combinationsOf(chain.match ?? {});
    const owner = combinations.map((text) => owners.get(text)).find((found) => found !== undefined);
    if (owner !== undefined) {
      const same = isSame(messages[owner]?.filter_chain_match, messages[index]?.filter_chain_match);
      place
        .index(index)
        .error(
          same
            ? `${adding}filter chain '${chain.name ?? ''}' has the same matching rules defined as ` +
                `'${chains[owner]?.name ?? ''}'. duplicate matcher is: ${matchText(messages[index])}`
            : overlap,
          {
            expected: `another filter_chain_match than that of filter_chains[${owner}]`,
            related: place.index(owner),
          },
        );
    }
    if (owner === undefined && new Set(combinations).size < combinations.length) {
      place.index(index).field('filter_chain_match').error(overlap, {
        expected: 'each criterion once',
      });
    }
    for (const text of combinations) if (!owners.has(text)) owners.set(text, index);
  });
}

/** As the real server: in the order of the schema. */
const MATCH_ORDER = [
  'prefix_ranges',
  'source_prefix_ranges',
  'source_ports',
  'destination_port',
  'transport_protocol',
  'application_protocols',
  'server_names',
  'source_type',
  'direct_source_prefix_ranges',
] as const;

function matchText({ filter_chain_match: match = {} }: FilterChainMessage = {}): string {
  return JSON.stringify(Object.fromEntries(MATCH_ORDER.map((name) => [name, match[name]])));
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
