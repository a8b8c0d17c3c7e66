// The functions of an ELF file (64 bits, little-endian) by their places in it.
import { closeSync, openSync, readSync } from 'node:fs';

const HEADER_BYTES = 64;
const SYMBOL_BYTES = 24;
const LOAD_SEGMENT = 1;
const ALL_SYMBOLS = 2;
const DYNAMIC_SYMBOLS = 11;
const FUNCTION_TYPES: ReadonlySet<number> = new Set([2, 10]);

interface Section {
  readonly type: number;
  readonly offset: number;
  readonly size: number;
  readonly link: number;
}

interface Segment {
  readonly offset: number;
  readonly size: number;
  readonly address: number;
}

/** Names (as the linker knows them) of the functions at these offsets of the file; throws when it is no such file. */
export function findFunctions(
  path: string,
  offsets: readonly number[],
): ReadonlyMap<number, string> {
  const file = openSync(path, 'r');
  try {
    return new ElfFile(file).functionsAt(offsets);
  } finally {
    closeSync(file);
  }
}

class ElfFile {
  readonly #file: number;

  constructor(file: number) {
    this.#file = file;
  }

  functionsAt(offsets: readonly number[]): ReadonlyMap<number, string> {
    const header = this.#read(0, HEADER_BYTES);
    if (header.readUInt32BE(0) !== 0x7f454c46 || header[4] !== 2 || header[5] !== 1) {
      throw new Error('this is no ELF file of 64 bits');
    }
    const segments = this.#segments(header);
    const sections = this.#sections(header);
    const table =
      sections.find(({ type }) => type === ALL_SYMBOLS) ??
      sections.find(({ type }) => type === DYNAMIC_SYMBOLS);
    const names = table && sections[table.link];
    if (!table || !names) return new Map();
    const wanted = offsets
      .map((offset) => ({ offset, address: addressOf(segments, offset), nameAt: -1 }))
      .sort((a, b) => a.address - b.address);
    this.#search(this.#read(table.offset, table.size), wanted);
    const found = wanted.filter(({ nameAt }) => nameAt >= 0);
    return new Map(found.map(({ offset, nameAt }) => [offset, this.#text(names.offset + nameAt)]));
  }

  /** Sets `nameAt` of what is inside of a function. `wanted` is sorted by address. */
  #search(symbols: Buffer, wanted: { readonly address: number; nameAt: number }[]): void {
    for (let at = 0; at + SYMBOL_BYTES <= symbols.length; at += SYMBOL_BYTES) {
      if (!FUNCTION_TYPES.has(symbols.readUInt8(at + 4) & 15)) continue;
      const start = Number(symbols.readBigUInt64LE(at + 8));
      const end = start + Number(symbols.readBigUInt64LE(at + 16));
      for (let i = firstFrom(wanted, start); i < wanted.length; i++) {
        const item = wanted[i];
        if (!item || item.address >= end) break;
        item.nameAt = symbols.readUInt32LE(at);
      }
    }
  }

  #segments(header: Buffer): readonly Segment[] {
    const [at, size, count] = [32, 54, 56].map((field, i) =>
      i === 0 ? Number(header.readBigUInt64LE(field)) : header.readUInt16LE(field),
    ) as [number, number, number];
    const table = this.#read(at, size * count);
    return Array.from({ length: count }, (_, index) => table.subarray(index * size))
      .filter((entry) => entry.readUInt32LE(0) === LOAD_SEGMENT)
      .map((entry) => ({
        offset: Number(entry.readBigUInt64LE(8)),
        address: Number(entry.readBigUInt64LE(16)),
        size: Number(entry.readBigUInt64LE(32)),
      }));
  }

  #sections(header: Buffer): readonly Section[] {
    const [at, size, count] = [40, 58, 60].map((field, i) =>
      i === 0 ? Number(header.readBigUInt64LE(field)) : header.readUInt16LE(field),
    ) as [number, number, number];
    const table = this.#read(at, size * count);
    return Array.from({ length: count }, (_, index) => {
      const entry = table.subarray(index * size);
      return {
        type: entry.readUInt32LE(4),
        offset: Number(entry.readBigUInt64LE(24)),
        size: Number(entry.readBigUInt64LE(32)),
        link: entry.readUInt32LE(40),
      };
    });
  }

  /** Up to its zero. */
  #text(offset: number): string {
    let text = '';
    for (let at = offset; ; at += 256) {
      const piece = this.#read(at, 256);
      const end = piece.indexOf(0);
      text += piece.toString('latin1', 0, end < 0 ? piece.length : end);
      if (end >= 0 || piece.length < 256) return text;
    }
  }

  /** Less at the end of the file. */
  #read(offset: number, size: number): Buffer {
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(this.#file, bytes, 0, size, offset));
  }
}

/** What the linker calls a place in the file; -1: it is never loaded. */
function addressOf(segments: readonly Segment[], offset: number): number {
  const segment = segments.find((one) => offset >= one.offset && offset < one.offset + one.size);
  return segment ? offset - segment.offset + segment.address : -1;
}

/** The index of the first item at or after an address. */
function firstFrom(sorted: readonly { readonly address: number }[], address: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.address ?? 0) < address) low = middle + 1;
    else high = middle;
  }
  return low;
}
