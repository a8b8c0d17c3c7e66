// What the shared memory and the sockets of a base id are called, as the real server names them.

/** Base ids lie this far apart: so many epochs have numbers of their own between two of them. */
const IDS_PER_BASE = 10;

/** Base ids leave room for their epochs: a number of 32 bits, as the real server reckons. */
export function scaledId(baseId: number): number {
  return Math.imul(baseId, IDS_PER_BASE) >>> 0;
}

export function regionName(baseId: number): string {
  return `/fairlead_shared_memory_${scaledId(baseId)}`;
}

/**
 * The socket on which a process is spoken to as somebody's parent, or as somebody's child. No two
 * epochs share one: with quick restarts and a long drain any number of them may be alive.
 */
export function socketName(
  path: string,
  role: 'parent' | 'child',
  baseId: number,
  epoch: number,
): string {
  const scaled = scaledId(baseId);
  const id = epoch < IDS_PER_BASE ? String(scaled + epoch) : `${scaled}_${epoch}`;
  return `${path}_${role}_${id}`;
}
