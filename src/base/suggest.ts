const LONGEST_NAME = 120;
const SHORTEST_STEM = 4;

/** The candidate that was most likely meant, or undefined where none is near. */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  const wanted = plain(name);
  const names = [...candidates];
  let best: string | undefined;
  // A third of the letters may be wrong, at most three of them.
  let bestDistance = Math.min(3, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of names) {
    const distance = editDistance(wanted, plain(candidate), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
      if (distance === 0) break;
    }
  }
  return best ?? onlyLonger(wanted, names);
}

/** The one name that goes on where this one ends: `port_value` for `port`. */
function onlyLonger(wanted: string, candidates: readonly string[]): string | undefined {
  if (wanted.length < SHORTEST_STEM) return undefined;
  const longer = candidates.filter((candidate) => plain(candidate).startsWith(wanted));
  return longer.length === 1 ? longer[0] : undefined;
}

/** Names that differ in case, `_` and `-` only are the same mistake. */
const plain = (name: string): string => name.replace(/[_-]/g, '').toLowerCase();

/**
 * Insertions, deletions, changes and swaps of neighbours from a to b; `limit` when that many or
 * more.
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const changed = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(changed, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
      least = Math.min(least, cost);
    }
    if (least >= limit) return limit;
    before = above;
    above = row;
  }
  return Math.min(above[b.length] ?? limit, limit);
}
