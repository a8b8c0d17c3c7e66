// What loggers of gRPC have in common: CommonGrpcAccessLogConfig.
import type {
  envoy_config_core_v3_GrpcService as GrpcService,
  envoy_extensions_access_loggers_grpc_v3_CommonGrpcAccessLogConfig as CommonConfig,
} from '../../../build/messages.gen.js';
import { compileLogTags } from '../../plan/access-log/log-tags.js';
import type { CompileContext } from '../../plan/extension.js';
import { compileGrpcService } from '../../plan/grpc/grpc-service.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { GrpcAccessLog } from '../../plan/plan.gen.js';
import type { GrpcServicePlan } from '../../plan/service-plan.js';

const FIELDS = supportedFields<CommonConfig>(
  'envoy.extensions.access_loggers.grpc.v3.CommonGrpcAccessLogConfig',
  [
    'log_name',
    'grpc_service',
    'buffer_flush_interval',
    'buffer_size_bytes',
    'filter_state_objects_to_log',
    'transport_api_version',
    'grpc_stream_retry_policy',
    'custom_tags',
  ],
);

export const DEFAULT_FLUSH_MS = 1000;
export const DEFAULT_BUFFER_BYTES = 16_384;
const STAT_PREFIX = 'access_logs.grpc_access_log.';

export function refuseCommonFields(config: CommonConfig, place: Place): void {
  refuseOtherFields(place, config, FIELDS);
  if (config.transport_api_version !== 'V2') return;
  place
    .field('transport_api_version')
    .error('The v2 xDS major version has been removed and is no longer supported.', {
      expected: 'V3',
    });
}

/** Undefined after an error. */
export function compileLogService(
  service: GrpcService | undefined,
  retry: CommonConfig['grpc_stream_retry_policy'],
  place: Place,
  context: CompileContext,
): GrpcServicePlan | undefined {
  const message = { ...service, ...(retry && { retry_policy: retry }) };
  return compileGrpcService(message, place, context, {
    isStreamOfXds: true,
    mayBeAway: true,
  });
}

/** Undefined after an error. */
export function compileStreamLog(
  config: CommonConfig,
  isTcp: boolean,
  place: Place,
  context: CompileContext,
): GrpcAccessLog | undefined {
  refuseCommonFields(config, place);
  const service = compileLogService(
    config.grpc_service,
    config.grpc_stream_retry_policy,
    place.field('grpc_service'),
    context,
  );
  const tags = compileLogTags(config.custom_tags, place.field('custom_tags'));
  if (!service) return undefined;
  const flushMs = wholeMs(config.buffer_flush_interval, DEFAULT_FLUSH_MS);
  const plan = { kind: 'stream', service, flushMs, logName: config.log_name ?? '', isTcp } as const;
  return {
    buffer: {
      id: context.logServices.add(plan, JSON.stringify([isTcp ? 'tcp' : 'http', config])),
      bytes: config.buffer_size_bytes ?? DEFAULT_BUFFER_BYTES,
      stat_prefix: STAT_PREFIX,
      // As the real server.
      ...(isTcp && { counts_losses_alone: true }),
    },
    is_tcp: isTcp,
    tags,
    filter_state_objects: config.filter_state_objects_to_log,
  };
}
