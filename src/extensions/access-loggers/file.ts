// envoy.access_loggers.file
import type { envoy_extensions_access_loggers_file_v3_FileAccessLog as FileAccessLog } from '../../../build/messages.gen.js';
import type { LogTarget } from '../../plan/access-log.js';
import { checkLogPath } from '../../plan/log-path.js';
import { refuseOtherFields, supportedFields } from '../../plan/supported-fields.js';
import { defineExtension } from '../extension.js';
import { compileLogFormat } from './log-format.js';

const FIELDS = supportedFields<FileAccessLog>(
  'envoy.extensions.access_loggers.file.v3.FileAccessLog',
  ['path', 'format', 'log_format'],
);

export const fileAccessLog = defineExtension<FileAccessLog, LogTarget | undefined>({
  name: 'envoy.access_loggers.file',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    const path = config.path ?? '';
    checkLogPath(path, place.field('path'));
    // The older field; empty is the default format.
    if (config.format) return { path, format: config.format, formatPlace: place.field('format') };
    const format = compileLogFormat(config.log_format, place.field('log_format'));
    return format && { path, ...format };
  },
});
