// envoy.access_loggers.open_telemetry
import type {
  envoy_config_core_v3_HttpService as HttpService,
  envoy_extensions_access_loggers_open_telemetry_v3_OpenTelemetryAccessLogConfig as OpenTelemetryConfig,
  opentelemetry_proto_common_v1_AnyValue as AnyValue,
} from '../../../build/messages.gen.js';
import { WireWriter } from '../../base/wire.js';
import { compileLogTags } from '../../plan/access-log/log-tags.js';
import type { LogTarget } from '../../plan/extension-plans.js';
import { type CompileContext, defineExtension } from '../../plan/extension.js';
import { readFormatters } from '../../plan/format-string/formatters.js';
import { compileFormat, type OwnOperators } from '../../plan/format/format.js';
import { compileHttpService } from '../../plan/http-service.js';
import type { OtelHttpPlan } from '../../plan/log-service.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { OtelValue } from '../../plan/plan.gen.js';
import type { GrpcServicePlan } from '../../plan/service-plan.js';
import { refuseOddClusters } from '../tracers/collector.js';
import {
  compileLogService,
  DEFAULT_BUFFER_BYTES,
  DEFAULT_FLUSH_MS,
  refuseCommonFields,
} from './grpc-common.js';

const FIELDS = supportedFields<OpenTelemetryConfig>(
  'envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig',
  [
    'common_config',
    'http_service',
    'grpc_service',
    'resource_attributes',
    'body',
    'attributes',
    'disable_builtin_labels',
    'stat_prefix',
    'formatters',
    'log_name',
    'buffer_flush_interval',
    'buffer_size_bytes',
    'filter_state_objects_to_log',
    'custom_tags',
  ],
);

const STAT_PREFIX = 'access_logs.open_telemetry_access_log.';

export const openTelemetryAccessLog = defineExtension<OpenTelemetryConfig, LogTarget | undefined>({
  name: 'envoy.access_loggers.open_telemetry',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const via = compileVia(config, place, context);
    const own = readFormatters(config.formatters, place.field('formatters'), context);
    const body = config.body && compileValue('', config.body, place.field('body'), own);
    const at = place.field('attributes').field('values');
    const attributes = (config.attributes?.values ?? []).flatMap(
      ({ key = '', value }, index) =>
        compileValue(key, value ?? {}, at.index(index).field('value'), own) ?? [],
    );
    const tags = compileLogTags(config.custom_tags, place.field('custom_tags'));
    if (!via) return undefined;
    const common = config.common_config ?? {};
    const statPrefix = `${STAT_PREFIX}${config.stat_prefix ? `${config.stat_prefix}.` : ''}`;
    const plan = {
      kind: 'otel',
      via,
      statPrefix,
      flushMs: wholeMs(
        config.buffer_flush_interval ?? common.buffer_flush_interval,
        DEFAULT_FLUSH_MS,
      ),
      resource: (config.resource_attributes?.values ?? []).map(({ key = '', value = {} }) => ({
        key,
        value: anyValue(value),
      })),
      ...(!config.disable_builtin_labels && {
        logName: config.log_name || (common.log_name ?? ''),
      }),
    } as const;
    return {
      otel: {
        buffer: {
          id: context.logServices.add(plan, JSON.stringify(['otel', config])),
          bytes: config.buffer_size_bytes ?? common.buffer_size_bytes ?? DEFAULT_BUFFER_BYTES,
          stat_prefix: statPrefix,
          counts_losses_alone: true,
          is_http: via.kind === 'http',
        },
        ...(body && { body }),
        attributes,
        tags,
        filter_state_objects:
          config.filter_state_objects_to_log ?? common.filter_state_objects_to_log,
      },
    };
  },
});

/** Undefined after an error. */
function compileVia(
  config: OpenTelemetryConfig,
  place: Place,
  context: CompileContext,
): GrpcServicePlan | OtelHttpPlan | undefined {
  const { http_service: http, grpc_service: grpc, common_config: common } = config;
  if (common) refuseCommonFields(common, place.field('common_config'));
  const ways = [http, grpc, common?.grpc_service].filter((way) => way !== undefined);
  if (ways.length !== 1) {
    place.error(
      ways.length === 0
        ? 'OpenTelemetry access logger requires one of: grpc_service, http_service, or common_config.grpc_service to be configured.'
        : 'OpenTelemetry access logger can only have one transport configured. Specify exactly one of: grpc_service, http_service, or common_config.grpc_service.',
    );
    return undefined;
  }
  if (http) return compileHttp(http, place.field('http_service'), context);
  const at = grpc ? place : place.field('common_config');
  const service = grpc ?? common?.grpc_service;
  return compileLogService(
    service,
    common?.grpc_stream_retry_policy,
    at.field('grpc_service'),
    context,
  );
}

function compileHttp(message: HttpService, place: Place, context: CompileContext): OtelHttpPlan {
  const service = compileHttpService(message, place);
  refuseOddClusters(service.cluster, place, context);
  return { kind: 'http', service };
}

/** Texts are formats. Undefined after an error. */
function compileValue(
  key: string,
  value: AnyValue,
  place: Place,
  own: OwnOperators | undefined,
): OtelValue | undefined {
  if (value.string_value !== undefined) {
    const result = compileFormat(value.string_value, 'http_log', own);
    if ('format' in result) return { key, text: result.format };
    place.field('string_value').error(result.error, result);
    return undefined;
  }
  if (value.kvlist_value) {
    const at = place.field('kvlist_value').field('values');
    const items = (value.kvlist_value.values ?? []).flatMap(
      ({ key: name = '', value: inner }, index) =>
        compileValue(name, inner ?? {}, at.index(index).field('value'), own) ?? [],
    );
    return { key, is_map: true, items };
  }
  if (value.array_value) {
    const at = place.field('array_value').field('values');
    const items = (value.array_value.values ?? []).flatMap(
      (inner, index) => compileValue('', inner, at.index(index), own) ?? [],
    );
    return { key, items };
  }
  place.error(
    'Only string values, nested key value lists and array values are supported in OpenTelemetry access log format.',
  );
  return undefined;
}

const BYTES = 2;

/** An AnyValue in protobuf's wire format, as it is. */
function anyValue(value: AnyValue): Uint8Array {
  const out = new WireWriter();
  writeAny(out, value);
  return out.finish();
}

function writeAny(out: WireWriter, value: AnyValue): void {
  if (value.string_value !== undefined) out.text((1 << 3) | BYTES, value.string_value);
  else if (value.bool_value !== undefined) out.number(2 << 3, value.bool_value ? 1 : 0);
  else if (value.int_value !== undefined) out.number(3 << 3, Number(value.int_value));
  else if (value.double_value !== undefined) out.double((4 << 3) | 1, value.double_value);
  else if (value.array_value) {
    out.message((5 << 3) | BYTES, value.array_value.values ?? [], (list, items) => {
      for (const item of items) list.message((1 << 3) | BYTES, item, writeAny);
    });
  } else if (value.kvlist_value) {
    out.message((6 << 3) | BYTES, value.kvlist_value.values ?? [], (list, items) => {
      for (const { key = '', value: inner = {} } of items) {
        list.message((1 << 3) | BYTES, inner, (member) => {
          member.text((1 << 3) | BYTES, key);
          member.message((2 << 3) | BYTES, inner, writeAny);
        });
      }
    });
  } else if (value.bytes_value) out.bytes((7 << 3) | BYTES, value.bytes_value);
}
