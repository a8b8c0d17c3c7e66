// What time it is, finer than milliseconds. Node's `performance` says it too, but loading that takes a
// part of the start that shows.

/** The system's clock was set, or the machine slept, where the two differ by more. */
const MOST_DRIFT_MS = 2;

/** Of no particular beginning; never goes back. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

let originMs = Date.now() - monotonicMs();

/** Since 1970. */
export function wallClockMs(): number {
  const coarseMs = Date.now();
  const fineMs = originMs + monotonicMs();
  if (Math.abs(fineMs - coarseMs) <= MOST_DRIFT_MS) return fineMs;
  originMs += coarseMs - fineMs;
  return coarseMs;
}
