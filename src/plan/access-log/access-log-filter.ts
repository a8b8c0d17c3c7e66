// The filters of access logs: a tree of conditions.
import type {
  envoy_config_accesslog_v3_AccessLogFilter as FilterMessage,
  envoy_config_accesslog_v3_ComparisonFilter as ComparisonFilter,
  envoy_config_accesslog_v3_GrpcStatusFilter as GrpcStatusFilter,
  envoy_config_accesslog_v3_LogTypeFilter as LogTypeFilter,
  envoy_config_accesslog_v3_MetadataFilter as MetadataFilter,
  envoy_config_accesslog_v3_RuntimeFilter as RuntimeFilter,
  envoy_type_matcher_v3_MetadataMatcher as MetadataMatcher,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import { PATH_SEPARATOR } from '../format/metadata-values.js';
import { compileHeaderMatcher } from '../match/matchers.js';
import { compileValueMatcher } from '../match/metadata.js';
import type { Place } from '../message/place.js';
import {
  AccessLogFilter_Comparison,
  AccessLogFilter_Kind as Kind,
  type AccessLogFilter,
} from '../plan.gen.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

const FILTER = supportedFields<FilterMessage>('envoy.config.accesslog.v3.AccessLogFilter', [
  'status_code_filter',
  'duration_filter',
  'not_health_check_filter',
  'runtime_filter',
  'and_filter',
  'or_filter',
  'header_filter',
  'response_flag_filter',
  'grpc_status_filter',
  'log_type_filter',
  'metadata_filter',
  'traceable_filter',
]);
const METADATA_FILTER = supportedFields<MetadataFilter>(
  'envoy.config.accesslog.v3.MetadataFilter',
  ['matcher', 'match_if_key_not_found'],
);
// What a matcher of metadata inverts is not looked at here, as in the real server.
const METADATA = supportedFields<MetadataMatcher>('envoy.type.matcher.v3.MetadataMatcher', [
  'filter',
  'path',
  'value',
  'invert',
]);
const RUNTIME = supportedFields<RuntimeFilter>('envoy.config.accesslog.v3.RuntimeFilter', [
  'runtime_key',
  'percent_sampled',
  'use_independent_randomness',
]);

const GRPC_STATUSES = [
  'OK',
  'CANCELED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;
const LOG_TYPES = [
  'NotSet',
  'TcpUpstreamConnected',
  'TcpPeriodic',
  'TcpConnectionEnd',
  'DownstreamStart',
  'DownstreamPeriodic',
  'DownstreamEnd',
  'UpstreamPoolReady',
  'UpstreamPeriodic',
  'UpstreamEnd',
  'DownstreamTunnelSuccessfullyEstablished',
  'UdpTunnelUpstreamConnected',
  'UdpPeriodic',
  'UdpSessionEnd',
  'TcpConnectionStart',
] as const;

/** Undefined after an error. */
export function compileAccessLogFilter(
  message: FilterMessage,
  place: Place,
  context: CompileContext,
): AccessLogFilter | undefined {
  refuseOtherFields(place, message, FILTER);
  const all = (name: 'and_filter' | 'or_filter'): AccessLogFilter[] =>
    (message[name]?.filters ?? []).flatMap(
      (filter, i) =>
        compileAccessLogFilter(filter, place.field(name).field('filters').index(i), context) ?? [],
    );
  if (message.status_code_filter)
    return compare(Kind.STATUS, message.status_code_filter.comparison, context);
  if (message.duration_filter)
    return compare(Kind.DURATION, message.duration_filter.comparison, context);
  if (message.not_health_check_filter) return { kind: Kind.NOT_HEALTH_CHECK };
  if (message.runtime_filter)
    return share(message.runtime_filter, place.field('runtime_filter'), context);
  if (message.and_filter) return { kind: Kind.AND, filters: all('and_filter') };
  if (message.or_filter) return { kind: Kind.OR, filters: all('or_filter') };
  if (message.response_flag_filter)
    return { kind: Kind.FLAGS, flags: message.response_flag_filter.flags };
  if (message.header_filter) {
    const at = place.field('header_filter').field('header');
    const header = compileHeaderMatcher(message.header_filter.header ?? {}, at);
    return header && { kind: Kind.HEADER, header };
  }
  if (message.grpc_status_filter) return compileGrpcStatus(message.grpc_status_filter);
  if (message.log_type_filter) return compileLogType(message.log_type_filter);
  if (message.metadata_filter) {
    return compileMetadata(message.metadata_filter, place.field('metadata_filter'));
  }
  if (message.traceable_filter) return { kind: Kind.TRACEABLE };
  return undefined;
}

function compileGrpcStatus({ statuses = [], exclude }: GrpcStatusFilter): AccessLogFilter {
  return {
    kind: Kind.GRPC_STATUS,
    numbers: statuses.map((status) => GRPC_STATUSES.indexOf(status)),
    excludes: exclude,
  };
}

function compileLogType({ types = [], exclude }: LogTypeFilter): AccessLogFilter {
  return {
    kind: Kind.LOG_TYPE,
    numbers: types.map((type) => LOG_TYPES.indexOf(type)),
    excludes: exclude,
  };
}

function compileMetadata(message: MetadataFilter, place: Place): AccessLogFilter {
  refuseOtherFields(place, message, METADATA_FILTER);
  const { matcher } = message;
  if (matcher) refuseOtherFields(place.field('matcher'), matcher, METADATA);
  return {
    kind: Kind.METADATA,
    metadata_namespace: matcher?.filter,
    metadata_path: (matcher?.path ?? []).map(({ key = '' }) => key).join(PATH_SEPARATOR),
    ...(matcher?.value && {
      metadata_value: compileValueMatcher(matcher.value, place.field('matcher').field('value')),
    }),
    matches_missing: message.match_if_key_not_found ?? true,
  };
}

function compare(
  kind: Kind,
  filter: ComparisonFilter | undefined,
  context: CompileContext,
): AccessLogFilter {
  const { runtime_key: key, default_value: fallback = 0 } = filter?.value ?? {};
  const { value, slot } = context.runtime.liveNumber(key, fallback);
  return { kind, comparison: AccessLogFilter_Comparison[filter?.op ?? 'EQ'], value, slot };
}

function share(filter: RuntimeFilter, place: Place, context: CompileContext): AccessLogFilter {
  refuseOtherFields(place, filter, RUNTIME);
  const { value, slot } = context.runtime.liveMillionths(
    filter.runtime_key,
    filter.percent_sampled,
  );
  return {
    kind: Kind.RUNTIME,
    share_millionths: value,
    slot,
    is_independent: filter.use_independent_randomness,
  };
}
