// Clusters that have all that they have waited for, on the way to their places. Those that come to have it in
// one turn of the loop go together: each journey goes on to every worker.
import { guarded } from '../base/bugs.js';
import type { NativeProxy } from '../native.js';

export class PlaceBatch {
  readonly #native: Pick<NativeProxy, 'endWaits'>;
  readonly #onPlaced: (cluster: string) => void;
  #waiting: string[] = [];

  /** `onPlaced`: the data plane has it there. */
  constructor(native: Pick<NativeProxy, 'endWaits'>, onPlaced: (cluster: string) => void) {
    this.#native = native;
    this.#onPlaced = onPlaced;
  }

  /** Before anything that is asked for from here on. */
  add(cluster: string): void {
    if (this.#waiting.length === 0) {
      queueMicrotask(guarded('clusters that take their places', () => this.flush()));
    }
    this.#waiting.push(cluster);
  }

  /** At once, where another of one of their names is to come. */
  flush(): void {
    if (this.#waiting.length === 0) return;
    const clusters = this.#waiting;
    this.#waiting = [];
    this.#native.endWaits(clusters);
    for (const cluster of clusters) this.#onPlaced(cluster);
  }
}
