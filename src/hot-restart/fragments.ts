// Messages in datagrams: what does not fit into one goes in several. They come in the order in which
// they were sent, and none is lost; but their sender may end in between.

/** Sender, message, its length, where this part of it begins: 32 bits each. */
const HEAD_BYTES = 16;
/** More is nothing that anyone says. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** Senders that have begun a message: what came with it stays open until its end. */
const MAX_PENDING = 4;

/** The datagrams of a message. `sender` tells processes apart, `id` messages. */
export function fragment(
  message: Uint8Array,
  sender: number,
  id: number,
  maxBytes: number,
): Buffer[] {
  const room = maxBytes - HEAD_BYTES;
  const datagrams: Buffer[] = [];
  for (let offset = 0; offset === 0 || offset < message.length; offset += room) {
    const part = message.subarray(offset, offset + room);
    const datagram = Buffer.allocUnsafe(HEAD_BYTES + part.length);
    datagram.writeUInt32LE(sender, 0);
    datagram.writeUInt32LE(id, 4);
    datagram.writeUInt32LE(message.length, 8);
    datagram.writeUInt32LE(offset, 12);
    datagram.set(part, HEAD_BYTES);
    datagrams.push(datagram);
  }
  return datagrams;
}

export interface Whole {
  readonly message: Buffer;
  readonly descriptors: readonly number[];
}

interface Pending {
  readonly id: number;
  readonly total: number;
  readonly descriptors: readonly number[];
  /** What has come: room is not made for what is only announced. */
  readonly parts: Buffer[];
  filled: number;
}

/** Puts messages together again. */
export class Assembly {
  readonly #pending = new Map<number, Pending>();
  readonly #closeDescriptors: (descriptors: readonly number[]) => void;

  /** What came with a message that is never completed is closed. */
  constructor(closeDescriptors: (descriptors: readonly number[]) => void) {
    this.#closeDescriptors = closeDescriptors;
  }

  /** The message that this datagram completes. Descriptors come with the first part. */
  add(datagram: Buffer, descriptors: readonly number[]): Whole | undefined {
    const pending = this.#pendingOf(datagram, descriptors);
    if (!pending) {
      this.#closeDescriptors(descriptors);
      return undefined;
    }
    const sender = datagram.readUInt32LE(0);
    const part = datagram.subarray(HEAD_BYTES);
    pending.parts.push(part);
    pending.filled += part.length;
    if (pending.filled < pending.total) return undefined;
    this.#pending.delete(sender);
    return { message: Buffer.concat(pending.parts), descriptors: pending.descriptors };
  }

  /** Undefined: it is no part of anything. */
  #pendingOf(datagram: Buffer, descriptors: readonly number[]): Pending | undefined {
    if (datagram.length < HEAD_BYTES) return undefined;
    const [sender, id] = [datagram.readUInt32LE(0), datagram.readUInt32LE(4)];
    const [total, offset] = [datagram.readUInt32LE(8), datagram.readUInt32LE(12)];
    const known = this.#pending.get(sender);
    const length = datagram.length - HEAD_BYTES;
    if (total > MAX_MESSAGE_BYTES || offset + length > total || (length === 0 && total > 0)) {
      return undefined;
    }
    if (offset > 0) {
      return known?.id === id && known.filled === offset && known.total === total
        ? known
        : undefined;
    }
    if (known) this.#drop(sender, known);
    const [oldest] = this.#pending;
    if (oldest && this.#pending.size >= MAX_PENDING) this.#drop(...oldest);
    const pending = { id, total, descriptors, parts: [], filled: 0 };
    this.#pending.set(sender, pending);
    return pending;
  }

  #drop(sender: number, pending: Pending): void {
    this.#pending.delete(sender);
    this.#closeDescriptors(pending.descriptors);
  }
}
