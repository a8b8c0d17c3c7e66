// Which format a file is of.
import type { Format } from './format.js';
import { jsonFormat } from './json-format.js';
import { pbFormat } from './pb.js';
import { pbTextFormat } from './pb-text.js';
import { yamlFormat } from './yaml/yaml-format.js';

/** Formats by the end of a file's name in any case; any other name is JSON, as in Envoy. */
const BY_EXTENSION: ReadonlyMap<string, Format> = new Map([
  ['.yaml', yamlFormat],
  ['.yml', yamlFormat],
  ['.json', jsonFormat],
  ['.pb', pbFormat],
  ['.pb_text', pbTextFormat],
]);

export function formatOf(path: string): Format {
  const extension = /\.[^./]*$/.exec(path)?.[0].toLowerCase() ?? '';
  return BY_EXTENSION.get(extension) ?? jsonFormat;
}
