// Timers that keep to what they are told. All of the control plane's are started here: Node's own run
// at once where they are asked to wait for longer than 24.8 days. What a timer's work throws is reported.
import { guarded } from './bugs.js';

export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** As setTimeout; the longest time that a timer can wait stands for all that are longer. */
export function startTimeout(act: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(guarded('a timer', act), Math.min(ms, LONGEST_TIMER_MS));
}

/** As setInterval; the longest time that a timer can wait stands for all that are longer. */
export function startInterval(act: () => void, ms: number): NodeJS.Timeout {
  return setInterval(guarded('a timer', act), Math.min(ms, LONGEST_TIMER_MS));
}

/** As AbortSignal.timeout, likewise. */
export function timeoutSignal(ms: number): AbortSignal {
  return AbortSignal.timeout(Math.min(ms, LONGEST_TIMER_MS));
}

/** As setImmediate. */
export function startImmediate(act: () => void, recover?: () => void): void {
  setImmediate(guarded('a turn of the loop', act, recover));
}
