// envoy.access_loggers.http_grpc
import type { envoy_extensions_access_loggers_grpc_v3_HttpGrpcAccessLogConfig as HttpGrpcAccessLogConfig } from '../../../build/messages.gen.js';
import type { LogTarget } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { compileStreamLog } from './grpc-common.js';

const FIELDS = supportedFields<HttpGrpcAccessLogConfig>(
  'envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig',
  [
    'common_config',
    'additional_request_headers_to_log',
    'additional_response_headers_to_log',
    'additional_response_trailers_to_log',
  ],
);

export const httpGrpcAccessLog = defineExtension<HttpGrpcAccessLogConfig, LogTarget | undefined>({
  name: 'envoy.access_loggers.http_grpc',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const at = place.field('common_config');
    const grpc = compileStreamLog(config.common_config ?? {}, false, at, context);
    return (
      grpc && {
        grpc: {
          ...grpc,
          request_headers: lower(config.additional_request_headers_to_log),
          response_headers: lower(config.additional_response_headers_to_log),
          response_trailers: lower(config.additional_response_trailers_to_log),
        },
      }
    );
  },
});

const lower = (names: readonly string[] | undefined): string[] =>
  (names ?? []).map((name) => name.toLowerCase());
