// What a configuration says of a format, before it is known what kind of log or answer it is for.
import type { PlainObject } from '../../config/values/objects.js';
import type { Place } from '../message/place.js';
import type { OwnOperators } from './format.js';

/** How something reads: a substitution format, or a JSON object of such. */
export interface ReadFormat {
  readonly format: string | PlainObject;
  readonly omitsEmpty?: boolean;
  /** Operators that its own formatters know. */
  readonly own?: OwnOperators;
  /** Where the configuration has it. */
  readonly place: Place;
}
