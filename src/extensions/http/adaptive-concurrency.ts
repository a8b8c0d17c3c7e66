// envoy.filters.http.adaptive_concurrency
import type {
  envoy_extensions_filters_http_adaptive_concurrency_v3_AdaptiveConcurrency as Message,
  envoy_extensions_filters_http_adaptive_concurrency_v3_GradientControllerConfig as Gradient,
  envoy_extensions_filters_http_adaptive_concurrency_v3_GradientControllerConfig_ConcurrencyLimitCalculationParams as LimitParams,
  envoy_extensions_filters_http_adaptive_concurrency_v3_GradientControllerConfig_MinimumRTTCalculationParams as RttParams,
} from '../../../build/messages.gen.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';
import { errorStatus } from '../../plan/message/error-status.js';
import { wholeMs } from '../../plan/message/numbers.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { compileFlag } from '../../plan/runtime/shares.js';

const PACKAGE = 'envoy.extensions.filters.http.adaptive_concurrency.v3';
const FIELDS = supportedFields<Message>(`${PACKAGE}.AdaptiveConcurrency`, [
  'gradient_controller_config',
  'enabled',
  'concurrency_limit_exceeded_status',
]);
const GRADIENT = supportedFields<Gradient>(`${PACKAGE}.GradientControllerConfig`, [
  'sample_aggregate_percentile',
  'concurrency_limit_params',
  'min_rtt_calc_params',
]);
const LIMIT = supportedFields<LimitParams>(
  `${PACKAGE}.GradientControllerConfig.ConcurrencyLimitCalculationParams`,
  ['max_concurrency_limit', 'concurrency_update_interval', 'min_concurrency_limit'],
);
const RTT = supportedFields<RttParams>(
  `${PACKAGE}.GradientControllerConfig.MinimumRTTCalculationParams`,
  ['interval', 'request_count', 'jitter', 'min_concurrency', 'buffer', 'fixed_value'],
);

const UNAVAILABLE = 503;
const KEYS = 'adaptive_concurrency.gradient_controller.';

export const adaptiveConcurrency = defineExtension<Message, HttpFilterPlan>({
  name: 'envoy.filters.http.adaptive_concurrency',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const gradient = config.gradient_controller_config ?? {};
    const at = place.field('gradient_controller_config');
    refuseOtherFields(at, gradient, GRADIENT);
    const { concurrency_limit_params: limit = {}, min_rtt_calc_params: rtt = {} } = gradient;
    refuseOtherFields(at.field('concurrency_limit_params'), limit, LIMIT);
    refuseOtherFields(at.field('min_rtt_calc_params'), rtt, RTT);
    if (rtt.interval === undefined && rtt.fixed_value === undefined) {
      at.field('min_rtt_calc_params').error(
        'adaptive_concurrency: neither `concurrency_update_interval` nor `fixed_value` set',
      );
    }
    const { runtime } = context;
    const number = (key: string, value: number) => runtime.liveNumber(KEYS + key, value);
    const percent = (key: string, value: number | undefined) =>
      runtime.liveDecimalMillionths(KEYS + key, value ?? 0);
    return {
      adaptive_concurrency: {
        enabled: compileFlag(config.enabled, context),
        status: errorStatus(config.concurrency_limit_exceeded_status?.code, UNAVAILABLE),
        sample_percentile: percent(
          'sample_aggregate_percentile',
          gradient.sample_aggregate_percentile ? gradient.sample_aggregate_percentile.value : 50,
        ),
        max_concurrency: number('max_concurrency_limit', limit.max_concurrency_limit ?? 1000),
        update_interval_ms: number(
          'sample_rtt_calc_interval_ms',
          wholeMs(limit.concurrency_update_interval, 0),
        ),
        min_rtt_interval_ms: number('min_rtt_calc_interval_ms', wholeMs(rtt.interval, 0)),
        min_rtt_requests: number('min_rtt_aggregate_request_count', rtt.request_count ?? 50),
        jitter: percent('jitter', rtt.jitter ? rtt.jitter.value : 15),
        min_concurrency: number('min_concurrency', rtt.min_concurrency ?? 3),
        min_limit: number(
          'min_concurrency_limit',
          limit.min_concurrency_limit ?? rtt.min_concurrency ?? 3,
        ),
        buffer: percent('min_rtt_buffer', rtt.buffer ? rtt.buffer.value : 25),
        fixed_min_rtt_ms: wholeMs(rtt.fixed_value, 0),
      },
    };
  },
});
