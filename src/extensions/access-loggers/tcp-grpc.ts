// envoy.access_loggers.tcp_grpc
import type { envoy_extensions_access_loggers_grpc_v3_TcpGrpcAccessLogConfig as TcpGrpcAccessLogConfig } from '../../../build/messages.gen.js';
import type { LogTarget } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { compileStreamLog } from './grpc-common.js';

const FIELDS = supportedFields<TcpGrpcAccessLogConfig>(
  'envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig',
  ['common_config'],
);

export const tcpGrpcAccessLog = defineExtension<TcpGrpcAccessLogConfig, LogTarget | undefined>({
  name: 'envoy.access_loggers.tcp_grpc',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const at = place.field('common_config');
    const grpc = compileStreamLog(config.common_config ?? {}, true, at, context);
    return grpc && { grpc };
  },
});
