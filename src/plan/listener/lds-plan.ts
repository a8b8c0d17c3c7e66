// Listeners of LDS: as static ones are compiled, but chain by chain, so that those that stay as they
// are go on.
import type {
  envoy_config_listener_v3_FilterChain as FilterChainMessage,
  envoy_config_listener_v3_Listener as ListenerMessage,
} from '../../../build/messages.gen.js';
import { beyondDefaults } from '../../config/equivalent.js';
import { schema } from '../../config/schema/schema.js';
import { messageKey } from '../../config/values/same-message.js';
import { LaterPlaces, type DiscoveredPlace } from '../discovered.js';
import { HeldSecrets, releaseSecrets, type HeldSecret } from '../live-sources.js';
import type { Source } from '../sources.js';
import type { CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';
import type { FilterChain, Listener } from '../plan.gen.js';
import { ChainRoutes, type RouteSlots } from '../route-slots.js';
import type { TlsSocketPlan } from '../tls-socket.js';
import { nextChainId } from './discovered-chain.js';
import { compileFilterChain } from './filter-chain.js';
import { compileListener } from './listener.js';

export interface LdsPlan {
  readonly source: Source;
  /** As the collection of them is called; absent: all that there are. */
  readonly collection?: string;
  /** Those of the bootstrap: no other has their names or addresses. */
  readonly staticListeners: readonly Listener[];
}

const LISTENER = 'envoy.config.listener.v3.Listener';

/** A filter chain that comes and goes. */
export interface DynamicChain {
  readonly id: number;
  readonly message: FilterChainMessage;
  readonly plan: FilterChain;
  readonly routes: ChainRoutes;
  readonly sockets: readonly TlsSocketPlan[];
  /** Of its filters and formats. */
  readonly secrets: readonly HeldSecret[];
  /** Filters that come later. */
  readonly discovered: readonly DiscoveredPlace[];
  /** Milliseconds since 1970. */
  readonly createdMs: number;
}

export interface CompiledListener {
  readonly listener: Listener;
  /** By what they say. */
  readonly chains: ReadonlyMap<string, DynamicChain>;
  /** Listener filters that come later. */
  readonly discovered: readonly DiscoveredPlace[];
  /** Of what belongs to none of its chains. */
  readonly secrets: readonly HeldSecret[];
}

/**
 * `known`: chains that there are already; what is not new is theirs. Undefined after some errors; what
 * was compiled is to be given back (`releaseNew`) where anything is wrong.
 */
export function compileDynamicListener(
  message: ListenerMessage,
  place: Place,
  context: CompileContext & { readonly routes: RouteSlots },
  known: ReadonlyMap<string, DynamicChain>,
): Partial<CompiledListener> & Omit<CompiledListener, 'listener'> {
  const chains = new Map<string, DynamicChain>();
  const ofListener = new LaterPlaces(context.discovered);
  const heldByListener = new HeldSecrets(context.live);
  const outer = { ...context, discovered: ofListener, holdLive: heldByListener.hold };
  const reading = place.reading(context.runtime);
  const listener = compileListener(message, reading, outer, (chain, at, isDefault) => {
    const key = `${isDefault}${messageKey(chain)}`;
    // Of two that say the same, which are refused, nothing is asked for twice.
    const before = known.get(key) ?? chains.get(key);
    if (before) {
      chains.set(key, before);
      return before.plan;
    }
    const routes = new ChainRoutes(context.routes);
    const id = nextChainId();
    const sockets: TlsSocketPlan[] = [];
    const held = new HeldSecrets(context.live);
    const discovered = new LaterPlaces(context.discovered);
    const own = {
      ...{ ...context, routes },
      addTls: (socket: TlsSocketPlan) => sockets.push(socket),
      holdLive: held.hold,
      discovered,
    };
    const plan = compileFilterChain(chain, at, own, id);
    chains.set(key, {
      id,
      message: chain,
      plan,
      routes,
      sockets,
      secrets: held.all,
      discovered: discovered.all,
      createdMs: Date.now(),
    });
    return plan;
  });
  return {
    ...{ chains, discovered: ofListener.all, secrets: heldByListener.all },
    ...(listener && { listener }),
  };
}

/** The new ones among chains that are not used after all. */
export function releaseNew(
  chains: ReadonlyMap<string, DynamicChain>,
  known: ReadonlyMap<string, DynamicChain>,
): void {
  for (const [key, chain] of chains) if (known.get(key) !== chain) releaseChain(chain);
}

/** Its tables, of which none is in use any more, are the answer. */
export function releaseChain({ routes, secrets }: DynamicChain): readonly string[] {
  releaseSecrets(secrets);
  return routes.release();
}

/**
 * Whether only filter chains tell the two apart: such a change keeps sockets and connections. As in the
 * real server a default that is spelled out is no difference, nor is an empty message, though it is one
 * that means something: `exact_balance` comes with the next change of another kind.
 */
export function differInChainsAlone(one: ListenerMessage, other: ListenerMessage): boolean {
  const rest = (message: ListenerMessage): string =>
    messageKey(
      beyondDefaults(schema().getMessage(LISTENER), {
        ...message,
        filter_chains: undefined,
        default_filter_chain: undefined,
        filter_chain_matcher: undefined,
      }),
    );
  return (other.filter_chains ?? []).length > 0 && rest(one) === rest(other);
}
