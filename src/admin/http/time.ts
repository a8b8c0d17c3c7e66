// How long requests have been answered in this turn of the loop. Many may have come at once, and all of
// them would be answered before anything else has its turn.
import { startImmediate } from '../../base/timers.js';

const TURN_MS = 5;
/** So many that come at once on one connection are answered at once, whatever else is going on. */
const MIN_AT_ONCE = 16;

let turn = 0;
let endMs = Infinity;

/** Whether one more may be answered at once. */
export function hasTime(): boolean {
  if (endMs === Infinity) {
    endMs = performance.now() + TURN_MS;
    startImmediate(() => {
      endMs = Infinity;
      turn += 1;
    });
  }
  return performance.now() < endMs;
}

/** Of a connection whose requests are better answered at once. */
export class Allowance {
  #turn = -1;
  #count = 0;

  /** Whether one more may be answered at once. */
  take(): boolean {
    const isEarly = hasTime();
    if (this.#turn !== turn) this.#count = 0;
    this.#turn = turn;
    this.#count += 1;
    return isEarly || this.#count <= MIN_AT_ONCE;
  }
}
