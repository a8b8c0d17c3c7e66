// Reads proto3's wire format. What is no message throws a RangeError; nothing beyond the bytes is
// looked at.

const VARINT_BITS = 64;
const WIRE_TYPE_BITS = 3;

export class WireReader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;

  constructor(bytes: Buffer, begin = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = begin;
    this.#end = end;
  }

  /** Of the next field: its number and wire type. 0 at the end. */
  tag(): number {
    return this.#at === this.#end ? 0 : this.number();
  }

  /** A varint; exact below 2^53. */
  number(): number {
    let value = 0;
    for (let bits = 0, factor = 1; bits < VARINT_BITS; bits += 7, factor *= 0x80) {
      const byte = this.#bytes[this.#take(1)] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new RangeError('a varint of more than 64 bits');
  }

  /** Exact below 2^53. */
  fixed64(): number {
    const at = this.#take(8);
    return this.#bytes.readUInt32LE(at) + this.#bytes.readUInt32LE(at + 4) * 2 ** 32;
  }

  text(): string {
    const length = this.number();
    const at = this.#take(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  /** No copy. */
  bytes(): Uint8Array {
    const length = this.number();
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  message<T>(read: (from: WireReader) => T): T {
    const length = this.number();
    const at = this.#take(length);
    return read(new WireReader(this.#bytes, at, at + length));
  }

  /** Over a field that is not known. */
  skip(tag: number): void {
    switch (tag % (1 << WIRE_TYPE_BITS)) {
      case 0:
        this.number();
        return;
      case 1:
        this.#take(8);
        return;
      case 2:
        this.#take(this.number());
        return;
      case 5:
        this.#take(4);
        return;
      default:
        throw new RangeError(`a field of tag ${tag}`);
    }
  }

  /** Where they begin. */
  #take(bytes: number): number {
    const at = this.#at;
    if (bytes > this.#end - at) throw new RangeError('a message is cut short');
    this.#at = at + bytes;
    return at;
  }
}
