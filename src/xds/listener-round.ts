// What an update of listeners changes, gathered: the data plane takes it as one.
import type { envoy_config_listener_v3_Listener as Listener } from '../../build/messages.gen.js';
import type { ApplyError } from '../native.js';
import type { DiscoveredPlace } from '../plan/discovered.js';
import { fixedAddresses } from '../plan/listener/listen-sockets.js';
import { releaseNew, type DynamicChain } from '../plan/listener/lds-plan.js';
import { releaseSecrets, type HeldSecret } from '../plan/live-sources.js';
import type { Listener as ListenerPlan, RouteTable, Update } from '../plan/plan.gen.js';
import type { DynamicListener } from './departures.js';

export type KnownListener = DynamicListener & { readonly plan: ListenerPlan };

export interface Refusal {
  readonly details: string;
  /** With places. */
  readonly lines: readonly string[];
}

/** A listener that is added, takes another's place, or has other filter chains. */
export interface Change {
  /** Among all listeners there ever are: that of `before`, where it only changes in place. */
  readonly id: number;
  /** Its own, or the update's. */
  readonly version: string;
  readonly message: Listener;
  readonly plan: ListenerPlan;
  /** By what they say. */
  readonly chains: ReadonlyMap<string, DynamicChain>;
  /** Those among them that are there already. */
  readonly known: ReadonlyMap<string, DynamicChain>;
  before: KnownListener | undefined;
  /** Of its listener filters. */
  readonly discovered: readonly DiscoveredPlace[];
  /** Those that come by SDS, of what belongs to none of its chains. */
  readonly secrets: readonly HeldSecret[];
  readonly isInPlace: boolean;
  /** The data plane's. */
  refusal?: Refusal;
}

/** What is only there for one that has not come to its place. */
export function release({ chains, known, secrets, isInPlace }: Change): void {
  releaseNew(chains, known);
  if (!isInPlace) releaseSecrets(secrets);
}

function tablesOf({ chains, known }: Change): readonly RouteTable[] {
  const fresh = [...chains].filter(([key, chain]) => known.get(key) !== chain);
  return fresh.flatMap(([, { routes }]) => [...routes.tables]);
}

/** As the real server begins it. */
export function describeDrop({ name, message }: ApplyError): string {
  return `final pre-worker listener init for listener '${name}' failed: ${message}`;
}

export function isDrop({ kind, name }: ApplyError, { plan }: Change): boolean {
  return kind === 'dropped_listener' && name === plan.name;
}

export function isAbout({ kind, name }: ApplyError, change: Change): boolean {
  if (kind === 'listener') return name === change.plan.name;
  return kind !== 'route_table' || tablesOf(change).some((table) => table.name === name);
}

export class Round {
  #removed: readonly string[] = [];
  #changes: Change[] = [];
  /** By name, as they will be. */
  #plans = new Map<string, ListenerPlan>();
  readonly #left = new Set<string>();

  constructor(removed: readonly string[], current: ReadonlyMap<string, KnownListener>) {
    this.begin(removed, current);
  }

  /** Nothing is gathered but these removals. */
  begin(removed: readonly string[], current: ReadonlyMap<string, KnownListener>): void {
    this.#removed = removed;
    this.#changes = [];
    this.#plans = new Map([...current].map(([name, { plan }]) => [name, plan]));
    for (const name of removed) this.#plans.delete(name);
    this.#left.clear();
  }

  get removed(): readonly string[] {
    return this.#removed;
  }

  /** These are put in place later, by themselves. */
  leaveOut(some: ReadonlySet<Change>): void {
    this.#changes = this.#changes.filter((change) => !some.has(change));
  }

  get changes(): readonly Change[] {
    return this.#changes;
  }

  /** Of all dynamic listeners, as they will be. */
  get plans(): Iterable<ListenerPlan> {
    return this.#plans.values();
  }

  add(change: Change): void {
    const { plan, before } = change;
    const kept = new Set(fixedAddresses(plan));
    for (const old of before ? fixedAddresses(before.plan) : []) {
      if (!kept.has(old)) this.#left.add(old);
    }
    this.#plans.set(plan.name ?? '', plan);
    this.#changes.push(change);
  }

  /** Whether a change of this round leaves that one's address, unless it is refused. */
  isAddressLeft(plan: ListenerPlan): boolean {
    return fixedAddresses(plan).some((text) => this.#left.has(text));
  }

  get update(): Update {
    const inPlace = this.#changes.filter(({ isInPlace }) => isInPlace);
    const others = this.#changes.filter(({ isInPlace }) => !isInPlace);
    return {
      route_tables: this.#changes.flatMap(tablesOf),
      removed_listeners: this.#removed,
      filter_chains: inPlace.map(({ plan: { name, filter_chains = [], chain_tree } }) => ({
        listener: name,
        filter_chains,
        ...(chain_tree && { chain_tree }),
      })),
      listeners: others.map(({ plan, id }) => ({ ...plan, id })),
    };
  }
}
