// Chance that is the same for the same seed.
export type Random = () => number;

/** From 0 to below `limit`. */
export const below = (random: Random, limit: number): number => Math.floor(random() * limit);

export function pick<T>(random: Random, from: readonly T[]): T {
  const chosen = from[below(random, from.length)];
  if (chosen === undefined) throw new Error('there is nothing to choose from');
  return chosen;
}

export function randomBytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => below(random, 256)));
}
