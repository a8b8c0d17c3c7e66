// envoy.access_loggers.stdout
import type { envoy_extensions_access_loggers_stream_v3_StdoutAccessLog as StdoutAccessLog } from '../../../build/messages.gen.js';
import type { LogTarget } from '../../plan/extension-plans.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { defineExtension } from '../../plan/extension.js';
import { readLogFormat } from './log-format.js';

const FIELDS = supportedFields<StdoutAccessLog>(
  'envoy.extensions.access_loggers.stream.v3.StdoutAccessLog',
  ['log_format'],
);

export const stdoutAccessLog = defineExtension<StdoutAccessLog, LogTarget | undefined>({
  name: 'envoy.access_loggers.stdout',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const format = readLogFormat(config.log_format, place.field('log_format'), context);
    return format && { path: '/dev/stdout', format };
  },
});
