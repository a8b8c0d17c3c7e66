import assert from 'node:assert/strict';
import { parseArguments, type Options } from '../../../src/options/parse.js';

/** The options of a command line that is in order. */
export function optionsOf(...args: readonly string[]): Options {
  const parsed = parseArguments(args);
  assert.equal(parsed.kind, 'options', JSON.stringify(parsed));
  return (parsed as { options: Options }).options;
}
