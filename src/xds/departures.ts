// Listeners and filter chains that were replaced or removed: their connections are given the drain time,
// and then end, with all that was only there for them.
import type { envoy_config_listener_v3_Listener as Listener } from '../../build/messages.gen.js';
import { guarded } from '../base/bugs.js';
import { startTimeout } from '../base/timers.js';
import type { NativeProxy } from '../native.js';
import type { DiscoveredPlace } from '../plan/discovered.js';
import { releaseChain, type DynamicChain } from '../plan/listener/lds-plan.js';
import { releaseSecrets, type HeldSecret } from '../plan/live-sources.js';
import { encodeUpdate, type Update } from '../plan/plan.gen.js';

export interface DynamicListener {
  /** Among all there ever are. */
  readonly id: number;
  /** Its own, or the one that it was given. */
  readonly name: string;
  readonly version: string;
  readonly message: Listener;
  readonly chains: ReadonlyMap<string, DynamicChain>;
  /** Listener filters that come later. */
  readonly discovered: readonly DiscoveredPlace[];
  /** Those that come by SDS, of what belongs to none of its chains. */
  readonly secrets: readonly HeldSecret[];
  /** Milliseconds since 1970. */
  readonly updatedMs: number;
}

interface Group {
  readonly listener?: DynamicListener;
  readonly chains: readonly DynamicChain[];
  readonly timer: NodeJS.Timeout;
}

export class Departures {
  readonly #native: NativeProxy;
  readonly #drainMs: number;
  readonly #onEnd: () => void;
  /** The latest first. */
  #groups: readonly Group[] = [];

  constructor(native: NativeProxy, drainSeconds: number, onEnd: () => void) {
    this.#native = native;
    this.#drainMs = drainSeconds * 1000;
    this.#onEnd = onEnd;
  }

  get listeners(): readonly DynamicListener[] {
    return this.#groups.flatMap(({ listener }) => listener ?? []);
  }

  get chains(): readonly DynamicChain[] {
    return this.#groups.flatMap(({ chains }) => chains);
  }

  addListener(listener: DynamicListener): void {
    const chains = [...listener.chains.values()];
    this.#add({ listener, chains }, { ended_listeners: [listener.id] });
  }

  addChains(chains: readonly DynamicChain[]): void {
    if (chains.length === 0) return;
    this.#add({ chains }, { ended_filter_chains: chains.map(({ id }) => id) });
  }

  /** The server ends: so do their connections. */
  stop(): void {
    for (const { timer } of this.#groups) clearTimeout(timer);
  }

  #add(what: Omit<Group, 'timer'>, end: Update): void {
    const over = guarded('the end of a drain', () => {
      this.#groups = this.#groups.filter((other) => other !== group);
      this.#native.apply(encodeUpdate(end));
      // After that: until then requests may come that go by them.
      const removed_route_tables = what.chains.flatMap(releaseChain);
      this.#native.apply(encodeUpdate({ removed_route_tables }));
      releaseSecrets(what.listener?.secrets ?? []);
      this.#onEnd();
    });
    const group: Group = { ...what, timer: startTimeout(over, this.#drainMs).unref() };
    this.#groups = [group, ...this.#groups];
  }
}
