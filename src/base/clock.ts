// What time it is, finer than milliseconds. Node's `performance` says it too, but loading that takes a
// part of the start that shows.

/** Of no particular beginning; never goes back. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}
