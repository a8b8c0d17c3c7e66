// Names for addresses of this process's native code, from the files that are mapped into it.
import { readFileSync } from 'node:fs';
import { findFunctions } from './elf-symbols.js';
import type { ProfileFrame } from './pprof.js';

interface Mapping {
  readonly start: number;
  readonly end: number;
  /** Of `start` in the file. */
  readonly offset: number;
  readonly path: string;
}

/** What cannot be named is shown by its address. */
export function nameAddresses(addresses: Iterable<number>): ReadonlyMap<number, ProfileFrame> {
  const mappings = readMappings(readFileSync('/proc/self/maps', 'utf8'));
  const byFile = new Map<string, { readonly address: number; readonly offset: number }[]>();
  const frames = new Map<number, ProfileFrame>();
  for (const address of addresses) {
    const mapping = mappings.find(({ start, end }) => address >= start && address < end);
    frames.set(address, frameOf(`0x${address.toString(16)}`, mapping?.path ?? ''));
    if (!mapping) continue;
    const places = byFile.get(mapping.path) ?? [];
    places.push({ address, offset: address - mapping.start + mapping.offset });
    byFile.set(mapping.path, places);
  }
  for (const [path, places] of byFile) {
    const names = tryFindFunctions(
      path,
      places.map(({ offset }) => offset),
    );
    for (const { address, offset } of places) {
      const name = names.get(offset);
      if (name !== undefined) frames.set(address, frameOf(name, path));
    }
  }
  return frames;
}

/** Of code that comes from a file. */
export function readMappings(text: string): readonly Mapping[] {
  return text.split('\n').flatMap((line): Mapping[] => {
    const parts = /^(\w+)-(\w+) ..x. (\w+) \S+ \d+ +(\/.*)$/.exec(line);
    if (!parts) return [];
    const [start = 0, end = 0, offset = 0] = parts
      .slice(1, 4)
      .map((digits) => parseInt(digits, 16));
    return [{ start, end, offset, path: parts[4] ?? '' }];
  });
}

function tryFindFunctions(path: string, offsets: readonly number[]): ReadonlyMap<number, string> {
  try {
    return findFunctions(path, offsets);
  } catch {
    // The file was replaced or removed while it runs.
    return new Map();
  }
}

const frameOf = (functionName: string, url: string): ProfileFrame => ({
  functionName,
  url,
  lineNumber: -1,
});
