// Bodies of answers that are made by a substitution format.
import type { envoy_config_core_v3_SubstitutionFormatString as FormatString } from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import type { OwnOperators } from '../format/format.js';
import type { Place } from '../message/place.js';
import { FormatPiece_Operator as Operator, type Format } from '../plan.gen.js';
import { compileReadFormat, readFormatString } from './format-string.js';

/** `body`: what %LOCAL_REPLY_BODY% is. A content type means nothing here. Undefined after an error. */
export function compileBodyFormat(
  message: FormatString,
  body: string,
  place: Place,
  context: CompileContext,
): Format | undefined {
  const read = readFormatString(message, place, context);
  if (!read) return undefined;
  const own: OwnOperators = (name, argument, length) =>
    name === 'LOCAL_REPLY_BODY'
      ? { operator: Operator.LITERAL, argument: body }
      : read.own?.(name, argument, length);
  return compileReadFormat({ ...read, own }, 'http_log');
}
