// Durations and shares as plans carry them.
import type { envoy_type_v3_Percent as Percent } from '../../../build/messages.gen.js';

/** Whole milliseconds, as the real server counts them: what is below one is cut off. */
export function wholeMs(durationMs: number | undefined, fallbackMs: number): number {
  return durationMs === undefined ? fallbackMs : Math.trunc(durationMs);
}

/** Of what a FractionalPercent's numerator is a part. */
export const DENOMINATORS = { HUNDRED: 100, TEN_THOUSAND: 10_000, MILLION: 1_000_000 } as const;

/** 0 to 100, as the real server counts them: what is below one is cut off, of its own product. */
export function wholePercent(percent: Percent | undefined, fallback: number): number {
  return percent === undefined ? fallback : Math.trunc(100 * ((percent.value ?? 0) / 100));
}
