// Listeners that wait for what they need, each for itself: what was there before them goes on.
import { unawaited } from '../base/bugs.js';
import type { NativeProxy } from '../native.js';
import type { DynamicListener } from './departures.js';
import type { InitTargets } from './init-targets.js';
import { release, type Change, type KnownListener } from './listener-round.js';

export interface WaitingHost {
  readonly targets: InitTargets;
  /** As ListenerHost's. */
  readonly onRoutes: () => void;
  readonly onSockets: () => void;
  readonly needsOf: (change: Change) => Promise<unknown> | undefined;
}

interface Waiting {
  readonly change: Change;
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
  /** It was there before the latest update. */
  readonly isHeld: boolean;
}

/** What the start waits for while listeners are not in place: each of them says itself why. */
export const LISTENERS = 'LDS listeners';

export class WaitingListeners {
  readonly #native: NativeProxy;
  readonly #host: WaitingHost;
  readonly #place: (name: string, change: Change) => void;
  /** By name. */
  #all: ReadonlyMap<string, Waiting> = new Map();

  /** `place`: it has all that it needs, and waits no more. */
  constructor(
    native: NativeProxy,
    host: WaitingHost,
    place: (name: string, change: Change) => void,
  ) {
    this.#native = native;
    this.#host = host;
    this.#place = place;
  }

  get names(): Iterable<string> {
    return this.#all.keys();
  }

  get size(): number {
    return this.#all.size;
  }

  find(name: string): Change | undefined {
    return this.#all.get(name)?.change;
  }

  /** Those first that have waited longest. */
  get listeners(): readonly DynamicListener[] {
    const all = [...this.#all].toSorted(([, a], [, b]) => a.sinceMs - b.sinceMs);
    return all.map(([name, { change, sinceMs }]) => {
      const { id, before, message, chains, discovered, secrets, isInPlace } = change;
      // As the real server: what changes in place goes on under the version that it came with.
      const version = before && isInPlace ? before.version : change.version;
      return { id, name, version, message, chains, discovered, secrets, updatedMs: sinceMs };
    });
  }

  stop(): void {
    this.#all = new Map();
  }

  /** All that an update changes; those that wait are the answer. `wanted`: names that there will be. */
  begin(changes: readonly Change[], wanted: ReadonlySet<string>): ReadonlySet<Change> {
    const held = this.#all;
    const sinceMs = Date.now();
    const all = changes.map((change): [string, Waiting] => {
      const name = change.plan.name ?? '';
      const known = held.get(name);
      return [name, known?.change === change ? known : { change, sinceMs, isHeld: false }];
    });
    // What they need is asked for by all that there will be.
    this.#all = new Map(all);
    if (all.length > 0) this.#tell();
    this.#drop(held, wanted);
    const waiting = new Map<Change, Promise<unknown>>();
    for (const [, { change }] of all) {
      const needs = this.#host.needsOf(change);
      if (needs) waiting.set(change, needs);
    }
    this.#all = new Map(
      all
        .filter(([, { change }]) => waiting.has(change))
        .map(([name, one]) => [name, { ...one, isHeld: true }]),
    );
    for (const [name, { change, isHeld }] of all) {
      if (isHeld) continue;
      const needs = waiting.get(change);
      // Others are counted as they are put in place.
      if (needs || held.has(name)) this.#native.announceListener(name, change.isInPlace);
      if (needs) unawaited('a listener that waits', this.#await(name, change, needs));
    }
    return new Set(waiting.keys());
  }

  /**
   * It has gone from the data plane, and is given up by the caller: what would have changed it in place goes,
   * too, and what waits to take its place comes as a new one.
   */
  forgetBefore(known: KnownListener): void {
    const { name } = known;
    const change = this.find(name);
    if (change?.before !== known) return;
    if (!change.isInPlace) {
      change.before = undefined;
      return;
    }
    this.#all = new Map([...this.#all].filter(([other]) => other !== name));
    release(change);
    this.#native.takeAnnouncementBack(name, false);
  }

  #tell(): void {
    this.#host.onRoutes();
    this.#host.onSockets();
  }

  /** Those that have waited in vain. */
  #drop(held: ReadonlyMap<string, Waiting>, wanted: ReadonlySet<string>): void {
    let isDropped = false;
    for (const [name, { change }] of held) {
      if (this.find(name) === change) continue;
      isDropped = true;
      release(change);
      if (this.#all.has(name)) continue;
      // What was there before is wanted again: that counts as a change.
      if (wanted.has(name)) this.#native.announceListener(name, false);
      this.#native.takeAnnouncementBack(name, !wanted.has(name));
    }
    if (isDropped) this.#tell();
  }

  async #await(name: string, change: Change, first: Promise<unknown>): Promise<void> {
    const leave = this.#host.targets.add(LISTENERS);
    const isStill = (): boolean => this.find(name) === change;
    for (let needs: Promise<unknown> | undefined = first; needs && isStill();) {
      await needs;
      needs = this.#host.needsOf(change);
    }
    if (isStill()) {
      this.#all = new Map([...this.#all].filter(([other]) => other !== name));
      this.#place(name, change);
    }
    leave();
  }
}
