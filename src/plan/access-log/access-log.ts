// Access logs: which logger, and the filter that decides what is logged.
import type { envoy_config_accesslog_v3_AccessLog as AccessLogMessage } from '../../../build/messages.gen.js';
import { findExtension, type CompileContext } from '../extension.js';
import { compileAccessLogFilter } from './access-log-filter.js';
import type { FormatUse } from '../format/format.js';
import { compileReadFormat } from '../format-string/format-string.js';
import type { Place } from '../message/place.js';
import type { AccessLog } from '../plan.gen.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

const ACCESS_LOG = supportedFields<AccessLogMessage>('envoy.config.accesslog.v3.AccessLog', [
  'name',
  'filter',
  'typed_config',
]);

/** What is logged where nothing else is asked for; TCP and listener logs have the same. */
export const DEFAULT_FORMAT =
  '[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" ' +
  '%RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% ' +
  '%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" ' +
  '"%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"\n';

export function compileAccessLogs(
  messages: readonly AccessLogMessage[] | undefined,
  use: FormatUse,
  place: Place,
  context: CompileContext,
): AccessLog[] {
  return (messages ?? []).flatMap(
    (message, index) => compileAccessLog(message, use, place.index(index), context) ?? [],
  );
}

function compileAccessLog(
  message: AccessLogMessage,
  use: FormatUse,
  place: Place,
  context: CompileContext,
): AccessLog | undefined {
  refuseOtherFields(place, message, ACCESS_LOG);
  const filter =
    message.filter && compileAccessLogFilter(message.filter, place.field('filter'), context);
  const logger = findExtension(context, 'accessLoggers', message, place);
  if (!logger || !message.typed_config) return undefined;
  const target = logger.compile(message.typed_config, place.field('typed_config'), context);
  if (!target) return undefined;
  if (!('path' in target)) return { ...target, filter };
  const format = compileReadFormat(target.format, use);
  return format && { path: target.path, format, filter };
}
