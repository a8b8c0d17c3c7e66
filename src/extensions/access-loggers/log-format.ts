// The format of a logger's lines, which files and streams share.
import type { envoy_config_core_v3_SubstitutionFormatString as FormatString } from '../../../build/messages.gen.js';
import { DEFAULT_FORMAT } from '../../plan/access-log/access-log.js';
import type { LogFormat } from '../../plan/extension-plans.js';
import { readTextSource } from '../../plan/message/data-source.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

// A content type is only for answers, and members of objects are sorted in any case.
const FIELDS = supportedFields<FormatString>('envoy.config.core.v3.SubstitutionFormatString', [
  'text_format',
  'text_format_source',
  'json_format',
  'json_format_options',
  'omit_empty_values',
  'content_type',
]);

/** What is asked for, or the default. Undefined after an error. */
export function readLogFormat(
  message: FormatString | undefined,
  place: Place,
): LogFormat | undefined {
  if (message === undefined) return { format: DEFAULT_FORMAT, place };
  refuseOtherFields(place, message, FIELDS);
  const omitsEmpty = message.omit_empty_values ?? false;
  if (message.json_format)
    return { format: message.json_format, omitsEmpty, place: place.field('json_format') };
  if (message.text_format_source) {
    const at = place.field('text_format_source');
    const format = readTextSource(message.text_format_source, at);
    return format === undefined ? undefined : { format, omitsEmpty, place: at };
  }
  return { format: message.text_format ?? '', omitsEmpty, place: place.field('text_format') };
}
