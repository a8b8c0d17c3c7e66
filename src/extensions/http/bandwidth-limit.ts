// envoy.filters.http.bandwidth_limit: a chain and its routes configure it by the same message.
import type { envoy_extensions_filters_http_bandwidth_limit_v3_BandwidthLimit as Message } from '../../../build/messages.gen.js';
import { type CompileContext, defineHttpFilter } from '../../plan/extension.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { BandwidthLimit } from '../../plan/plan.gen.js';
import { compileFlag } from '../../plan/runtime/shares.js';

const FIELDS = supportedFields<Message>(
  'envoy.extensions.filters.http.bandwidth_limit.v3.BandwidthLimit',
  [
    'stat_prefix',
    'enable_mode',
    'limit_kbps',
    'fill_interval',
    'runtime_enabled',
    'enable_response_trailers',
    'response_trailer_prefix',
  ],
);

const FILL_INTERVAL_MS = 50;

export const bandwidthLimit = defineHttpFilter<Message, Message>({
  name: 'envoy.filters.http.bandwidth_limit',
  type: FIELDS.type,
  compile: (config, place, context) => ({ bandwidth_limit: compile(config, place, context) }),
  byRoute: {
    type: FIELDS.type,
    compile(config, place, context) {
      if (config.limit_kbps === undefined) {
        place.error('limit must be set for per route filter config', { expected: 'limit_kbps' });
        return undefined;
      }
      return { bandwidth_limit: compile(config, place, context) };
    },
  },
});

function compile(config: Message, place: Place, context: CompileContext): BandwidthLimit {
  refuseOtherFields(place, config, FIELDS);
  const mode = config.enable_mode ?? 'DISABLED';
  const prefix = config.response_trailer_prefix ?? '';
  return {
    stat_prefix: config.stat_prefix,
    limits_request: mode === 'REQUEST' || mode === 'REQUEST_AND_RESPONSE',
    limits_response: mode === 'RESPONSE' || mode === 'REQUEST_AND_RESPONSE',
    limit_kbps: config.limit_kbps,
    fill_interval_ms: wholeMs(config.fill_interval, FILL_INTERVAL_MS),
    enabled: compileFlag(config.runtime_enabled, context),
    adds_trailers: config.enable_response_trailers,
    trailer_prefix: prefix === '' ? '' : `${prefix.toLowerCase()}-`,
  };
}
