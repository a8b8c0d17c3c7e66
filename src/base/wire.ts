// Writes proto3's wire format into one growing buffer. Lengths of messages are not known before they
// are written: four bytes are kept for each, which every reader of varints understands.

const LENGTH_BYTES = 4;
const MAX_MESSAGE_BYTES = 2 ** (7 * LENGTH_BYTES) - 1;
/** Up to this length a text is copied character by character: faster than a call of the encoder. */
const SHORT_TEXT = 64;
const encoder = new TextEncoder();

export class WireWriter {
  #bytes = new Uint8Array(1024);
  #at = 0;

  /** The bytes written so far; the writer must not be used after this. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  /** An integer field: 0 to 2^53 - 1, or a negative number as proto3's int64. */
  number(tag: number, value: number): void {
    this.#reserve(20);
    this.#varint(tag);
    if (value < 0) this.#negative(value);
    else this.#varint(value);
  }

  /** Eight bytes: 0 to 2^53 - 1, or a bigint. */
  fixed64(tag: number, value: number | bigint): void {
    this.#reserve(20);
    this.#varint(tag);
    const view = new DataView(this.#bytes.buffer);
    if (typeof value === 'bigint') {
      view.setBigUint64(this.#at, value, true);
    } else {
      view.setUint32(this.#at, value % 2 ** 32, true);
      view.setUint32(this.#at + 4, Math.floor(value / 2 ** 32), true);
    }
    this.#at += 8;
  }

  /** Four bytes. */
  fixed32(tag: number, value: number): void {
    this.#reserve(20);
    this.#varint(tag);
    new DataView(this.#bytes.buffer).setUint32(this.#at, value, true);
    this.#at += 4;
  }

  double(tag: number, value: number): void {
    this.#reserve(20);
    this.#varint(tag);
    new DataView(this.#bytes.buffer).setFloat64(this.#at, value, true);
    this.#at += 8;
  }

  text(tag: number, value: string): void {
    // A UTF-16 unit takes at most three bytes.
    this.#reserve(20 + value.length * 3);
    this.#varint(tag);
    const lengthAt = this.#at;
    this.#at += LENGTH_BYTES;
    const written =
      this.#ascii(value) ?? encoder.encodeInto(value, this.#bytes.subarray(this.#at)).written;
    this.#at += written;
    this.#patchLength(lengthAt, written);
  }

  bytes(tag: number, value: Uint8Array): void {
    this.#reserve(20 + value.length);
    this.#varint(tag);
    this.#varint(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  /** Fields that are written already. */
  raw(fields: Uint8Array): void {
    this.#reserve(fields.length);
    this.#bytes.set(fields, this.#at);
    this.#at += fields.length;
  }

  message<T>(tag: number, value: T, write: (out: WireWriter, value: T) => void): void {
    this.#reserve(20);
    this.#varint(tag);
    const lengthAt = this.#at;
    this.#at += LENGTH_BYTES;
    write(this, value);
    this.#patchLength(lengthAt, this.#at - lengthAt - LENGTH_BYTES);
  }

  /** Copies a short text of ASCII and gives its length; undefined for any other text. */
  #ascii(value: string): number | undefined {
    if (value.length > SHORT_TEXT) return undefined;
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return undefined;
      this.#bytes[this.#at + i] = code;
    }
    return value.length;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + bytes));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }

  #varint(value: number): void {
    let left = value;
    while (left > 0x7f) {
      this.#bytes[this.#at++] = (left % 0x80) | 0x80;
      left = Math.floor(left / 0x80);
    }
    this.#bytes[this.#at++] = left;
  }

  #negative(value: number): void {
    let left = BigInt.asUintN(64, BigInt(value));
    while (left > 0x7fn) {
      this.#bytes[this.#at++] = Number(left & 0x7fn) | 0x80;
      left >>= 7n;
    }
    this.#bytes[this.#at++] = Number(left);
  }

  #patchLength(at: number, length: number): void {
    if (length > MAX_MESSAGE_BYTES) throw new RangeError(`a plan of ${length} bytes is too large`);
    for (let i = 0; i < LENGTH_BYTES; i++) {
      const more = i < LENGTH_BYTES - 1 ? 0x80 : 0;
      this.#bytes[at + i] = ((length >>> (7 * i)) & 0x7f) | more;
    }
  }
}
