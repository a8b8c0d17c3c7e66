// envoy.access_loggers.file
import type { envoy_extensions_access_loggers_file_v3_FileAccessLog as FileAccessLog } from '../../../build/messages.gen.js';
import type { LogFormat, LogTarget } from '../../plan/extension-plans.js';
import { checkLogPath } from '../../plan/access-log/log-path.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { defineExtension, type CompileContext } from '../../plan/extension.js';
import { readLogFormat } from './log-format.js';

const FIELDS = supportedFields<FileAccessLog>(
  'envoy.extensions.access_loggers.file.v3.FileAccessLog',
  ['path', 'format', 'json_format', 'typed_json_format', 'log_format'],
);

export const fileAccessLog = defineExtension<FileAccessLog, LogTarget | undefined>({
  name: 'envoy.access_loggers.file',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const path = config.path ?? '';
    checkLogPath(path, place.field('path'));
    const format = readFormat(config, place, context);
    return format && { path, format };
  },
});

/** The older fields come first; an empty text is the default format. */
function readFormat(
  config: FileAccessLog,
  place: Place,
  context: CompileContext,
): LogFormat | undefined {
  for (const name of ['format', 'json_format', 'typed_json_format'] as const) {
    const format = config[name];
    if (format) return { format, place: place.field(name) };
  }
  return readLogFormat(config.log_format, place.field('log_format'), context);
}
