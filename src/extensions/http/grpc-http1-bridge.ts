// envoy.filters.http.grpc_http1_bridge
import type { envoy_extensions_filters_http_grpc_http1_bridge_v3_Config as Config } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<Config>(
  'envoy.extensions.filters.http.grpc_http1_bridge.v3.Config',
  ['upgrade_protobuf_to_grpc', 'ignore_query_parameters'],
);

export const grpcHttp1Bridge = defineExtension<Config, HttpFilterPlan>({
  name: 'envoy.filters.http.grpc_http1_bridge',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return {
      grpc_http1_bridge: {
        upgrade_protobuf: config.upgrade_protobuf_to_grpc,
        ignores_query: config.ignore_query_parameters,
      },
    };
  },
});
