// envoy.filters.http.grpc_web
import type { envoy_extensions_filters_http_grpc_web_v3_GrpcWeb as GrpcWeb } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<GrpcWeb>('envoy.extensions.filters.http.grpc_web.v3.GrpcWeb', []);

export const grpcWeb = defineExtension<GrpcWeb, HttpFilterPlan>({
  name: 'envoy.filters.http.grpc_web',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return { grpc_web: {} };
  },
});
