// The format of a logger's lines, which files and streams share.
import type { envoy_config_core_v3_SubstitutionFormatString as FormatString } from '../../../build/messages.gen.js';
import { DEFAULT_FORMAT } from '../../plan/access-log/access-log.js';
import type { LogFormat } from '../../plan/extension-plans.js';
import type { CompileContext } from '../../plan/extension.js';
import { readFormatString } from '../../plan/format-string/format-string.js';
import type { Place } from '../../plan/message/place.js';

/** What is asked for, or the default. Undefined after an error. */
export function readLogFormat(
  message: FormatString | undefined,
  place: Place,
  context: CompileContext,
): LogFormat | undefined {
  return message === undefined
    ? { format: DEFAULT_FORMAT, place }
    : readFormatString(message, place, context);
}
