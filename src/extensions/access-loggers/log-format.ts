// The format of a logger's lines, which files and streams share.
import type { envoy_config_core_v3_SubstitutionFormatString as FormatString } from '../../../build/messages.gen.js';
import { DEFAULT_FORMAT } from '../../plan/access-log.js';
import { readTextSource } from '../../plan/data-source.js';
import type { Place } from '../../plan/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/supported-fields.js';

// A content type is only for answers.
const FIELDS = supportedFields<FormatString>('envoy.config.core.v3.SubstitutionFormatString', [
  'text_format',
  'text_format_source',
  'content_type',
]);

/** A text and where it stands; the default when nothing is asked for. Undefined after an error. */
export function compileLogFormat(
  message: FormatString | undefined,
  place: Place,
): { readonly format: string; readonly formatPlace: Place } | undefined {
  if (message === undefined) return { format: DEFAULT_FORMAT, formatPlace: place };
  refuseOtherFields(place, message, FIELDS);
  if (message.text_format_source) {
    const formatPlace = place.field('text_format_source');
    const format = readTextSource(message.text_format_source, formatPlace);
    return format === undefined ? undefined : { format, formatPlace };
  }
  if (message.json_format) return undefined;
  return { format: message.text_format ?? '', formatPlace: place.field('text_format') };
}
