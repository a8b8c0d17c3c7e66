// Listener filters, and the connections that they leave alone.
import type {
  envoy_config_core_v3_ExtensionConfigSource as ExtensionConfigSource,
  envoy_config_listener_v3_ListenerFilter as FilterMessage,
  envoy_config_listener_v3_ListenerFilterChainMatchPredicate as PredicateMessage,
} from '../../../build/messages.gen.js';
import { nextDiscoveredId } from '../discovered.js';
import { compileDiscovered } from '../discovered-config.js';
import { findExtension, type CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import {
  ListenerPredicate_Kind,
  type ListenerFilter,
  type ListenerPredicate,
} from '../plan.gen.js';

const FILTER = supportedFields<FilterMessage>('envoy.config.listener.v3.ListenerFilter', [
  'name',
  'typed_config',
  'filter_disabled',
  'config_discovery',
]);

export function compileListenerFilters(
  messages: readonly FilterMessage[] | undefined,
  place: Place,
  context: CompileContext,
): ListenerFilter[] {
  return (messages ?? []).flatMap((message, index) => {
    const at = place.index(index);
    refuseOtherFields(at, message, FILTER);
    const disabled = message.filter_disabled && compilePredicate(message.filter_disabled);
    if (message.config_discovery) {
      const plan = compileLater(message.name ?? '', message.config_discovery, at, context);
      return plan ? [{ ...plan, disabled }] : [];
    }
    const extension = findExtension(context, 'listenerFilters', message, at);
    if (!extension || !message.typed_config) return [];
    const plan = extension.compile(message.typed_config, at.field('typed_config'), context);
    return [{ ...plan, disabled }];
  });
}

/** Undefined after an error. */
function compileLater(
  name: string,
  config: ExtensionConfigSource,
  place: Place,
  context: CompileContext,
): ListenerFilter | undefined {
  const id = nextDiscoveredId();
  const listed = (filter: ListenerFilter | undefined): ListenerFilter[] => (filter ? [filter] : []);
  const found = compileDiscovered<ListenerFilter>(
    ...([name, config, place.field('config_discovery'), context] as const),
    {
      kind: 'tcp_listener_filter',
      filters: 'listenerFilters',
      accept: (plan) => plan,
      put: (plan) => ({ discovered_listener_filters: [{ id, filter: listed(plan) }] }),
    },
  );
  return found && { discovered: { id, filter: listed(found.first) } };
}

function compilePredicate(message: PredicateMessage): ListenerPredicate {
  if (message.not_match) {
    return { kind: ListenerPredicate_Kind.NOT, rules: [compilePredicate(message.not_match)] };
  }
  const set = message.and_match ?? message.or_match;
  if (set) {
    return {
      kind: message.and_match ? ListenerPredicate_Kind.AND : ListenerPredicate_Kind.OR,
      rules: (set.rules ?? []).map(compilePredicate),
    };
  }
  if (message.destination_port_range) {
    const { start = 0, end = 0 } = message.destination_port_range;
    return {
      kind: ListenerPredicate_Kind.DESTINATION_PORT,
      port_begin: Math.max(start, 0),
      port_end: Math.max(end, 0),
    };
  }
  return { kind: ListenerPredicate_Kind.ANY };
}
