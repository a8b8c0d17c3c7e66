// A SubstitutionFormatString: of loggers' lines, and of answers' bodies.
import type { envoy_config_core_v3_SubstitutionFormatString as FormatString } from '../../../build/messages.gen.js';
import { isObject } from '../../config/values/objects.js';
import type { CompileContext } from '../extension.js';
import { readTextSource } from '../message/data-source.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { Format, ReplyFormat } from '../plan.gen.js';
import { compileFormat, type FormatUse, type OwnOperators } from '../format/format.js';
import type { ReadFormat } from '../format/read-format.js';
import { readFormatters } from './formatters.js';
import { compileJsonFormat } from '../format/json-format.js';

const FIELDS = supportedFields<FormatString>('envoy.config.core.v3.SubstitutionFormatString', [
  'text_format',
  'text_format_source',
  'json_format',
  // Members of objects are sorted in any case.
  'json_format_options',
  'omit_empty_values',
  'content_type',
  'formatters',
]);

/** Undefined after an error. `context`: that of `readFormatters`. */
export function readFormatString(
  message: FormatString,
  place: Place,
  context: CompileContext | undefined,
): ReadFormat | undefined {
  refuseOtherFields(place, message, FIELDS);
  const own = readFormatters(message.formatters, place.field('formatters'), context);
  const common = { omitsEmpty: message.omit_empty_values ?? false, ...(own && { own }) };
  if (message.json_format)
    return { ...common, format: message.json_format, place: place.field('json_format') };
  if (message.text_format_source) {
    const at = place.field('text_format_source');
    const format = readTextSource(message.text_format_source, at);
    return format === undefined ? undefined : { ...common, format, place: at };
  }
  return { ...common, format: message.text_format ?? '', place: place.field('text_format') };
}

/** Undefined after an error. */
export function compileReadFormat(read: ReadFormat, use: FormatUse): Format | undefined {
  const { format, omitsEmpty, own, place } = read;
  const result =
    typeof format === 'string'
      ? compileFormat(format, use, own)
      : compileJsonFormat(format, use, own);
  if ('error' in result) {
    place.error(result.error, result);
    return undefined;
  }
  return { ...('json' in result ? result : result.format), omit_empty: omitsEmpty };
}

/** The body of an answer that is the proxy's own; `first` is asked of operators first. Undefined after an error. */
export function compileReplyFormat(
  message: FormatString,
  place: Place,
  context: CompileContext,
  first?: OwnOperators,
): ReplyFormat | undefined {
  const read = readFormatString(message, place, context);
  const own = first
    ? (...operator: Parameters<OwnOperators>) => first(...operator) ?? read?.own?.(...operator)
    : read?.own;
  const format = read && compileReadFormat({ ...read, ...(own && { own }) }, 'header');
  const isJson = isObject(message.json_format);
  return (
    format && {
      format,
      content_type: message.content_type || (isJson ? 'application/json' : 'text/plain'),
    }
  );
}
