// Texts that are made for each request: paths, hosts.
import type { Place } from '../message/place.js';
import type { Format } from '../plan.gen.js';
import { compileFormat, type FormatUse } from './format.js';

/** Undefined after an error. */
export function compileTextFormat(
  text: string,
  place: Place,
  use: FormatUse = 'header',
): Format | undefined {
  const result = compileFormat(text, use);
  if (!('error' in result)) return result.format;
  place.error(result.error, result);
  return undefined;
}
