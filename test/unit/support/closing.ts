import type { EventEmitter } from 'node:events';

/** When a connection ends, in whatever way: events.once() would fail if the peer has reset it. */
export function closing(connection: EventEmitter): Promise<void> {
  return new Promise((resolve) => connection.once('close', () => resolve()));
}
