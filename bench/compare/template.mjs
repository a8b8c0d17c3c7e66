// Fills in a configuration of configs/ and writes it where its proxy will read it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CONFIGS = new URL('configs/', import.meta.url);

/**
 * @param {string} name a file of configs/
 * @param {string} directory the proxy's own
 * @param {Record<string, string | number>} values of its <names>
 * @returns {string} the path of the written file
 */
export function writeConfig(name, directory, values) {
  const text = readFileSync(new URL(name, CONFIGS), 'utf8').replaceAll(/<([a-z_]+)>/g, (_, key) => {
    if (values[key] === undefined) throw new Error(`${name}: nothing is given for <${key}>`);
    return String(values[key]);
  });
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}
