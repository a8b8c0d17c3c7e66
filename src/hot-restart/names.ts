// What the shared memory and the sockets of a base id are called, as the real server names them.

/** So many epochs of a base id can be alive at a time. */
export const EPOCHS_AT_A_TIME = 10;

/** Base ids leave room for their epochs: a number of 32 bits, as the real server reckons. */
export function scaledId(baseId: number): number {
  return Math.imul(baseId, EPOCHS_AT_A_TIME) >>> 0;
}

export function regionName(baseId: number): string {
  return `/fairlead_shared_memory_${scaledId(baseId)}`;
}

/** The socket on which a process is spoken to as somebody's parent, or as somebody's child. */
export function socketName(
  path: string,
  role: 'parent' | 'child',
  baseId: number,
  epoch: number,
): string {
  return `${path}_${role}_${scaledId(baseId) + (epoch % EPOCHS_AT_A_TIME)}`;
}
