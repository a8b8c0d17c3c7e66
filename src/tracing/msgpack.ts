// What Datadog's agent reads: MessagePack, every length and number in its widest form, as its own
// libraries write them.
const ARRAY32 = 0xdd;
const MAP32 = 0xdf;
const TEXT32 = 0xdb;
const UINT64 = 0xcf;
const INT64 = 0xd3;
const DOUBLE = 0xcb;

export class MsgpackWriter {
  #bytes = Buffer.allocUnsafe(4096);
  #at = 0;

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  array(length: number): void {
    this.#head(ARRAY32, length);
  }

  /** Of so many keys, each before its value. */
  map(length: number): void {
    this.#head(MAP32, length);
  }

  text(value: string): void {
    const size = Buffer.byteLength(value);
    this.#head(TEXT32, size);
    this.#reserve(size);
    this.#bytes.write(value, this.#at);
    this.#at += size;
  }

  unsigned(value: bigint): void {
    this.#reserve(9);
    this.#bytes[this.#at] = UINT64;
    this.#bytes.writeBigUInt64BE(BigInt.asUintN(64, value), this.#at + 1);
    this.#at += 9;
  }

  signed(value: number): void {
    this.#reserve(9);
    this.#bytes[this.#at] = INT64;
    this.#bytes.writeBigInt64BE(BigInt(value), this.#at + 1);
    this.#at += 9;
  }

  double(value: number): void {
    this.#reserve(9);
    this.#bytes[this.#at] = DOUBLE;
    this.#bytes.writeDoubleBE(value, this.#at + 1);
    this.#at += 9;
  }

  #head(type: number, length: number): void {
    this.#reserve(5);
    this.#bytes[this.#at] = type;
    this.#bytes.writeUInt32BE(length, this.#at + 1);
    this.#at += 5;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + bytes));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}
