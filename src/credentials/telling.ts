// How the data plane is told of what has been fetched. It may not know the filter yet whose it is: a listener or a
// cluster may wait for what it needs, and so may the filter be told of again until it is there.
import { monotonicMs } from '../base/clock.js';
import { startTimeout } from '../base/timers.js';
import type { LiveSources } from '../plan/live-sources.js';

/** From a plan to the data plane. */
const LONGEST_WAY_MS = 600_000;
const TELL_AGAIN_MS = 200;

export class Telling {
  readonly #live: LiveSources;
  /** By number: until when it may be unknown. */
  readonly #untaken = new Map<number, number>();
  readonly #timers = new Map<number, NodeJS.Timeout>();

  constructor(live: LiveSources) {
    this.#live = live;
  }

  /** It has been asked for. */
  expect(id: number): void {
    this.#untaken.set(id, monotonicMs() + LONGEST_WAY_MS);
  }

  /** `tell`: false where the data plane does not know it. What nobody has any more is released. */
  tell(id: number, tell: () => boolean): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    if (!this.#live.isThere(id)) return;
    if (tell()) {
      this.#untaken.delete(id);
    } else if ((this.#untaken.get(id) ?? 0) > monotonicMs()) {
      const again = (): void => this.tell(id, tell);
      this.#timers.set(id, startTimeout(again, TELL_AGAIN_MS).unref());
    } else {
      this.#live.release(id);
    }
  }

  forget(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.#untaken.delete(id);
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }
}
