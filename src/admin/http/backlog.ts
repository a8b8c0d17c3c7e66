// What was made for readers and has not been taken by them, over all connections of the admin server.
// One piece of an answer is made ahead of its reader, never two; where many readers are slow, those
// who come to be too many are sent away.

export const MAX_WAITING_BYTES = 32 * 1024 * 1024;

let waitingBytes = 0;

/** What waits on one connection. */
export class Waiting {
  #bytes = 0;

  /** So much waits now. False: over all connections it is too much, and this one is to be given up. */
  set(bytes: number): boolean {
    waitingBytes += bytes - this.#bytes;
    this.#bytes = bytes;
    return bytes === 0 || waitingBytes <= MAX_WAITING_BYTES;
  }
}
