// Quantiles of what several histograms hold together.
import type { Bin } from './admin.js';

/**
 * The value below which the share `quantile` (0 to 1) of all values lies, or undefined of none.
 * Within a bin, values are taken to lie evenly.
 */
export function quantileOf(bins: readonly Bin[], quantile: number): number | undefined {
  const sorted = [...bins].sort((a, b) => a.lower - b.lower);
  const total = sorted.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return undefined;
  let left = quantile * total;
  for (const { lower, width, count } of sorted) {
    if (left <= count) return lower + width * (left / count);
    left -= count;
  }
  const last = sorted[sorted.length - 1];
  return last && last.lower + last.width;
}
