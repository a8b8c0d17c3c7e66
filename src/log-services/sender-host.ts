// What the sender of a log service needs of what is around it.
import type { Sender } from '../stats/node-bytes.js';

export interface SenderHost {
  /** Who this server is. */
  readonly sender: Sender;
  /** So many bytes more, or fewer, wait for the service. */
  onWaiting(bytes: number): void;
  /** Adds to a statistic by its full name. */
  count(name: string, amount: number): void;
  warn(message: string): void;
}

/** What a service is sent by. */
export interface EntrySender {
  /** Entries as their encoder wrote them. */
  send(entries: Buffer, count: number): void;
  close(): void;
}

/** A field of protobuf's that is a message, or bytes. */
export function lengthDelimited(field: number, ...pieces: readonly Uint8Array[]): Buffer {
  let length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const head = [(field << 3) | 2];
  for (; length > 0x7f; length = Math.floor(length / 128)) head.push((length % 128) | 0x80);
  head.push(length);
  return Buffer.concat([Buffer.from(head), ...pieces]);
}
