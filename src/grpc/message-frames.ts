// Messages of gRPC in the bytes of a stream: a byte that says whether it is compressed, its length,
// itself.
const HEAD_BYTES = 5;

export function frameMessage(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, HEAD_BYTES);
  return frame;
}

export class MessageReader {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** `maxBytes`: the longest message that is taken; 0: any. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The messages that `piece` completes; a text says why the stream cannot go on. */
  take(piece: Buffer): readonly Buffer[] | string {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    const messages: Buffer[] = [];
    while (this.#bytes >= HEAD_BYTES) {
      const head = this.#join(HEAD_BYTES);
      if (head[0] !== 0) return 'a compressed message, which was not asked for';
      const length = head.readUInt32BE(1);
      if (this.#maxBytes > 0 && length > this.#maxBytes) {
        return `a message of ${length} bytes, where at most ${this.#maxBytes} may come`;
      }
      if (this.#bytes < HEAD_BYTES + length) break;
      const all = this.#join(HEAD_BYTES + length);
      messages.push(all.subarray(HEAD_BYTES, HEAD_BYTES + length));
      this.#drop(HEAD_BYTES + length);
    }
    return messages;
  }

  /** The first piece, which has at least so many bytes from here on. */
  #join(bytes: number): Buffer {
    const [first] = this.#pieces;
    if (first && first.length >= bytes) return first;
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [all];
    return all;
  }

  #drop(bytes: number): void {
    const [first] = this.#pieces;
    this.#bytes -= bytes;
    if (!first) return;
    if (first.length === bytes) this.#pieces.shift();
    else this.#pieces[0] = first.subarray(bytes);
  }
}
