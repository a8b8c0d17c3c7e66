// envoy.filters.http.connect_grpc_bridge
import type { envoy_extensions_filters_http_connect_grpc_bridge_v3_FilterConfig as Config } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<Config>(
  'envoy.extensions.filters.http.connect_grpc_bridge.v3.FilterConfig',
  [],
);

export const connectGrpcBridge = defineExtension<Config, HttpFilterPlan>({
  name: 'envoy.filters.http.connect_grpc_bridge',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return { connect_grpc_bridge: {} };
  },
});
