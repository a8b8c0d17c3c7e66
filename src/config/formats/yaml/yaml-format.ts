import { documentPlaces, readDocument } from './yaml-document.js';
import type { Format } from '../format.js';
import { readSubset } from './yaml-subset.js';

/** YAML as the real server reads it, which is what yaml-cpp makes of it. */
export const yamlFormat: Format = {
  name: 'YAML',
  encoding: 'lenient-utf8',
  read(text) {
    return readSubset(text) ?? readDocument(text);
  },
  places: documentPlaces,
};
