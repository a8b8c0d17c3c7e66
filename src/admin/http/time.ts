// How long requests have been answered in this turn of the loop. Many may have come at once, and all of
// them would be answered before anything else has its turn.
import { startImmediate } from '../../base/timers.js';

const TURN_MS = 2;

let endMs = Infinity;

/** Whether one more may be answered at once. */
export function hasTime(): boolean {
  if (endMs === Infinity) {
    endMs = performance.now() + TURN_MS;
    startImmediate(() => (endMs = Infinity));
  }
  return performance.now() < endMs;
}
