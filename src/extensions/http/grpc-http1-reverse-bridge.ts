// envoy.filters.http.grpc_http1_reverse_bridge
import type {
  envoy_extensions_filters_http_grpc_http1_reverse_bridge_v3_FilterConfig as Config,
  envoy_extensions_filters_http_grpc_http1_reverse_bridge_v3_FilterConfigPerRoute as ByRoute,
} from '../../../build/messages.gen.js';
import { defineHttpFilter } from '../../plan/extension.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<Config>(
  'envoy.extensions.filters.http.grpc_http1_reverse_bridge.v3.FilterConfig',
  ['content_type', 'withhold_grpc_frames'],
);
const BY_ROUTE = supportedFields<ByRoute>(
  'envoy.extensions.filters.http.grpc_http1_reverse_bridge.v3.FilterConfigPerRoute',
  ['disabled'],
);

export const grpcHttp1ReverseBridge = defineHttpFilter<Config, ByRoute>({
  name: 'envoy.filters.http.grpc_http1_reverse_bridge',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return {
      grpc_http1_reverse_bridge: {
        content_type: config.content_type,
        withholds_frames: config.withhold_grpc_frames,
      },
    };
  },
  byRoute: {
    type: BY_ROUTE.type,
    compile(config, place) {
      refuseOtherFields(place, config, BY_ROUTE);
      return { grpc_http1_reverse_bridge: { disabled: config.disabled } };
    },
  },
});
