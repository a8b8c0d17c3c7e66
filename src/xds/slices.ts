// Long work of the control thread, a slice at a time: what else it has to do comes in between.
import { startImmediate } from '../base/timers.js';

const SLICE_MS = 10;

export class Slices {
  #beganMs = performance.now();

  /** Undefined: there is time left. Otherwise the work goes on when it resolves. */
  pause(): Promise<void> | undefined {
    if (performance.now() - this.#beganMs < SLICE_MS) return undefined;
    return new Promise<void>((resolve) =>
      startImmediate(() => {
        this.#beganMs = performance.now();
        resolve();
      }),
    );
  }
}
