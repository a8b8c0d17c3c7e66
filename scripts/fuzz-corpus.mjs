// Inputs of a fuzz target in one file, as test/fuzz/driver.cc reads it: each behind its size, four
// bytes, the lowest first.
import { existsSync, readFileSync } from 'node:fs';

/** @param {readonly Buffer[]} inputs */
export function packCorpus(inputs) {
  return Buffer.concat(
    inputs.flatMap((input) => {
      const size = Buffer.alloc(4);
      size.writeUInt32LE(input.length);
      return [size, input];
    }),
  );
}

/** @returns {Buffer[]} none, where there is no such file */
export function unpackCorpus(path) {
  if (!existsSync(path)) return [];
  const bytes = readFileSync(path);
  const inputs = [];
  for (let at = 0; at < bytes.length;) {
    const size = bytes.readUInt32LE(at);
    inputs.push(bytes.subarray(at + 4, at + 4 + size));
    at += 4 + size;
  }
  return inputs;
}
