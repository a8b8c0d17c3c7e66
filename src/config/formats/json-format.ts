import type { Format } from './format.js';
import { JsonReader } from './json-reader.js';

const SURROGATE = /\\u[dD][89a-fA-F]/;

/**
 * JSON as Envoy's protobuf reads it. What JSON.parse refuses is read again by our own reader, which
 * knows where the fault is and takes what Envoy takes besides: keys without quotes, single quotes,
 * commas after the last element, line ends in texts. It refuses halves of characters, which JSON.parse
 * takes.
 */
export const jsonFormat: Format = {
  name: 'JSON',
  encoding: 'strict-utf8',
  refusesByteOrderMark: true,
  read(text) {
    if (SURROGATE.test(text)) return new JsonReader(text).read();
    try {
      return { ok: true, value: JSON.parse(text) as unknown };
    } catch {
      return new JsonReader(text).read();
    }
  },
  places(text) {
    return new JsonReader(text).places();
  },
};
