import type { ReadResult } from './format.js';
export function readSubset(_text: string): ReadResult | undefined {
  return undefined;
}
