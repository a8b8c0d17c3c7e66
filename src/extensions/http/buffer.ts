// envoy.filters.http.buffer
import type {
  envoy_extensions_filters_http_buffer_v3_Buffer as Buffer,
  envoy_extensions_filters_http_buffer_v3_BufferPerRoute as BufferPerRoute,
} from '../../../build/messages.gen.js';
import { defineHttpFilter } from '../../plan/extension.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { BufferSettings } from '../../plan/plan.gen.js';

const FIELDS = supportedFields<Buffer>('envoy.extensions.filters.http.buffer.v3.Buffer', [
  'max_request_bytes',
]);
const BY_ROUTE = supportedFields<BufferPerRoute>(
  'envoy.extensions.filters.http.buffer.v3.BufferPerRoute',
  ['disabled', 'buffer'],
);

function compile(config: Buffer, place: Place): BufferSettings {
  refuseOtherFields(place, config, FIELDS);
  return { max_request_bytes: config.max_request_bytes };
}

export const buffer = defineHttpFilter<Buffer, BufferPerRoute>({
  name: 'envoy.filters.http.buffer',
  type: FIELDS.type,
  compile: (config, place) => ({ buffer: compile(config, place) }),
  byRoute: {
    type: BY_ROUTE.type,
    compile(config, place) {
      refuseOtherFields(place, config, BY_ROUTE);
      if (config.disabled || !config.buffer) return { buffer: { disabled: config.disabled } };
      return { buffer: compile(config.buffer, place.field('buffer')) };
    },
  },
});
