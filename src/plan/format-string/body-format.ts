// Bodies of answers that are made by a substitution format.
import type { envoy_config_core_v3_SubstitutionFormatString as FormatString } from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import type { OwnOperators } from '../format/format.js';
import type { Place } from '../message/place.js';
import type { FileText } from '../live-sources.js';
import { FormatPiece_Operator as Operator, type Format, type ReplyFormat } from '../plan.gen.js';
import { compileReadFormat, compileReplyFormat, readFormatString } from './format-string.js';

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

/** The same of a body in a file that is followed; `value`: what it holds now. */
export function compileFollowedBody(
  message: FormatString | undefined,
  file: FileText,
  value: Uint8Array,
  place: Place,
  context: CompileContext,
): ReplyFormat | undefined {
  const live_text = { name: context.live.nameOfFile(file), value };
  const asItIs = { text_format: '%LOCAL_REPLY_BODY%', omit_empty_values: true };
  return compileReplyFormat(message ?? asItIs, place, context, (name, _, max_length) =>
    name === 'LOCAL_REPLY_BODY'
      ? { operator: Operator.LIVE_TEXT, live_text, max_length }
      : undefined,
  );
}
