// Bodies of answers that are made by a substitution format.
import type { envoy_config_core_v3_SubstitutionFormatString as FormatString } from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import { readTextSource } from '../message/data-source.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { FormatPiece_Operator as Operator, type Format } from '../plan.gen.js';
import { compileFormat, type OwnOperators } from '../format/format.js';
import { readFormatters } from './formatters.js';
import { compileJsonFormat } from '../format/json-format.js';

const FIELDS = supportedFields<FormatString>('envoy.config.core.v3.SubstitutionFormatString', [
  'text_format',
  'text_format_source',
  'json_format',
  'json_format_options',
  'omit_empty_values',
  'content_type',
  'formatters',
]);

/** `body`: what %LOCAL_REPLY_BODY% is. A content type means nothing here. Undefined after an error. */
export function compileBodyFormat(
  message: FormatString,
  body: string,
  place: Place,
  context: CompileContext,
): Format | undefined {
  refuseOtherFields(place, message, FIELDS);
  const others = readFormatters(message.formatters, place.field('formatters'), context);
  const own: OwnOperators = (name, argument, length) =>
    name === 'LOCAL_REPLY_BODY'
      ? { operator: Operator.LITERAL, argument: body }
      : others?.(name, argument, length);
  const omit_empty = message.omit_empty_values;
  if (message.json_format) {
    const result = compileJsonFormat(message.json_format, 'http_log', own);
    if ('error' in result) {
      place.field('json_format').error(result.error, result);
      return undefined;
    }
    return { json: result.json, omit_empty };
  }
  const at = place.field(message.text_format_source ? 'text_format_source' : 'text_format');
  const text = message.text_format_source
    ? readTextSource(message.text_format_source, at)
    : (message.text_format ?? '');
  if (text === undefined) return undefined;
  const result = compileFormat(text, 'http_log', own);
  if ('error' in result) {
    at.error(result.error, result);
    return undefined;
  }
  return { ...result.format, omit_empty };
}
