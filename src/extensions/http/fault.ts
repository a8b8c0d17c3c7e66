// envoy.filters.http.fault: a chain and its routes configure it by the same message.
import type {
  envoy_extensions_filters_common_fault_v3_FaultDelay as FaultDelayMessage,
  envoy_extensions_filters_common_fault_v3_FaultRateLimit as FaultRateLimit,
  envoy_extensions_filters_http_fault_v3_FaultAbort as FaultAbortMessage,
  envoy_extensions_filters_http_fault_v3_HTTPFault as HttpFault,
  envoy_type_v3_FractionalPercent as FractionalPercent,
} from '../../../build/messages.gen.js';
import { type CompileContext, defineHttpFilter } from '../../plan/extension.js';
import { metadataValues } from '../../plan/format/metadata-values.js';
import { compileHeaderMatcher } from '../../plan/match/matchers.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type {
  FaultAbort,
  FaultDelay,
  FaultRate,
  FaultSettings,
  FaultShare,
  RuntimeOverride,
} from '../../plan/plan.gen.js';
import type { RuntimeReads } from '../../plan/runtime/runtime-reads.js';

const FIELDS = supportedFields<HttpFault>('envoy.extensions.filters.http.fault.v3.HTTPFault', [
  'delay',
  'abort',
  'upstream_cluster',
  'headers',
  'downstream_nodes',
  'max_active_faults',
  'response_rate_limit',
  'delay_percent_runtime',
  'abort_percent_runtime',
  'delay_duration_runtime',
  'abort_http_status_runtime',
  'max_active_faults_runtime',
  'response_rate_limit_percent_runtime',
  'abort_grpc_status_runtime',
  'disable_downstream_cluster_stats',
  'filter_metadata',
]);

/** Requests with a fault have metadata of its name, be it empty. */
const NO_METADATA = [{ path: '', text: '{}', is_json: true }] as const;
const UNIT_MILLIONTHS = { HUNDRED: 10_000, TEN_THOUSAND: 100, MILLION: 1 } as const;

export const fault = defineHttpFilter<HttpFault, HttpFault>({
  name: 'envoy.filters.http.fault',
  type: FIELDS.type,
  compile: (config, place, context) => ({ fault: compile(config, place, context) }),
  byRoute: {
    type: FIELDS.type,
    compile: (config, place, context) => ({ fault: compile(config, place, context) }),
  },
});

function compile(config: HttpFault, place: Place, { runtime }: CompileContext): FaultSettings {
  refuseOtherFields(place, config, FIELDS);
  const metadata = config.filter_metadata ?? {};
  return {
    delay: config.delay && compileDelay(config.delay, config, runtime),
    abort: config.abort && compileAbort(config.abort, config, runtime),
    response_rate:
      config.response_rate_limit && compileRate(config.response_rate_limit, config, runtime),
    upstream_cluster: config.upstream_cluster,
    headers: (config.headers ?? []).flatMap(
      (header, index) => compileHeaderMatcher(header, place.field('headers').index(index)) ?? [],
    ),
    downstream_nodes: config.downstream_nodes,
    max_active_faults: config.max_active_faults,
    override_max_active_faults: override(
      runtime,
      config.max_active_faults_runtime,
      'fault.http.max_active_faults',
    ),
    disable_downstream_cluster_stats: config.disable_downstream_cluster_stats,
    metadata: Object.keys(metadata).length === 0 ? NO_METADATA : metadataValues(metadata),
  };
}

function compileDelay(
  delay: FaultDelayMessage,
  config: HttpFault,
  runtime: RuntimeReads,
): FaultDelay {
  return {
    share: compileShare(
      delay.percentage,
      runtime,
      config.delay_percent_runtime,
      'fault.http.delay.fixed_delay_percent',
    ),
    fixed_ms: delay.header_delay ? undefined : wholeMs(delay.fixed_delay, 0),
    override_ms: override(
      runtime,
      config.delay_duration_runtime,
      'fault.http.delay.fixed_duration_ms',
    ),
  };
}

function compileAbort(
  abort: FaultAbortMessage,
  config: HttpFault,
  runtime: RuntimeReads,
): FaultAbort {
  return {
    share: compileShare(
      abort.percentage,
      runtime,
      config.abort_percent_runtime,
      'fault.http.abort.abort_percent',
    ),
    http_status: abort.http_status,
    grpc_status: abort.grpc_status,
    body: abort.response_body,
    override_http_status: override(
      runtime,
      config.abort_http_status_runtime,
      'fault.http.abort.http_status',
    ),
    override_grpc_status: override(
      runtime,
      config.abort_grpc_status_runtime,
      'fault.http.abort.grpc_status',
    ),
  };
}

function compileRate(rate: FaultRateLimit, config: HttpFault, runtime: RuntimeReads): FaultRate {
  return {
    share: compileShare(
      rate.percentage,
      runtime,
      config.response_rate_limit_percent_runtime,
      'fault.http.rate_limit.response_percent',
    ),
    fixed_kbps: rate.fixed_limit?.limit_kbps ?? 0,
  };
}

function compileShare(
  percentage: FractionalPercent | undefined,
  runtime: RuntimeReads,
  key: string | undefined,
  usualKey: string,
): FaultShare {
  return {
    numerator: percentage?.numerator,
    unit_millionths: UNIT_MILLIONTHS[percentage?.denominator ?? 'HUNDRED'],
    override: liveShare(runtime, key || usualKey),
  };
}

function override(
  runtime: RuntimeReads,
  key: string | undefined,
  usualKey: string,
): RuntimeOverride {
  return liveNumber(runtime, key || usualKey);
}

function liveNumber(runtime: RuntimeReads, key: string): RuntimeOverride {
  const { value, slot } = runtime.liveNumber(key, Number.MAX_SAFE_INTEGER);
  return { now: value, slot };
}

function liveShare(runtime: RuntimeReads, key: string): RuntimeOverride {
  const { value, slot } = runtime.liveShareOrUnset(key, Number.MAX_SAFE_INTEGER);
  return { now: value, slot };
}
