// envoy.filters.http.admission_control
import type {
  envoy_config_core_v3_RuntimePercent as RuntimePercent,
  envoy_extensions_filters_http_admission_control_v3_AdmissionControl as Message,
  envoy_extensions_filters_http_admission_control_v3_AdmissionControl_SuccessCriteria as Criteria,
} from '../../../build/messages.gen.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { SuccessRange } from '../../plan/plan.gen.js';
import { compileFlag } from '../../plan/runtime/shares.js';

const TYPE = 'envoy.extensions.filters.http.admission_control.v3.AdmissionControl';
const FIELDS = supportedFields<Message>(TYPE, [
  'enabled',
  'success_criteria',
  'sampling_window',
  'aggression',
  'sr_threshold',
  'rps_threshold',
  'max_rejection_probability',
]);
const CRITERIA = supportedFields<Criteria>(`${TYPE}.SuccessCriteria`, [
  'http_criteria',
  'grpc_criteria',
]);

const SAMPLING_WINDOW_MS = 30_000;
const AGGRESSION = 1;
const SUCCESS_THRESHOLD_PERCENT = 95;
const MAX_REJECTION_PERCENT = 80;
const LEAST_THRESHOLD_PERCENT = 1;
/** All but what says that a server is at its end. */
const HTTP_SUCCESS: readonly SuccessRange[] = [{ first: 0, end: 500 }];
/** OK, and what is the caller's doing. */
const GRPC_SUCCESS: readonly number[] = [0, 1, 2, 3, 5, 6, 16, 9, 11, 12];
const MAX_GRPC_STATUS = 16;

export const admissionControl = defineExtension<Message, HttpFilterPlan>({
  name: 'envoy.filters.http.admission_control',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const percent = (value: RuntimePercent | undefined, fallback: number) =>
      context.runtime.liveDecimalMillionths(
        value?.runtime_key,
        value ? (value.default_value?.value ?? 0) : fallback,
      );
    const { sr_threshold: threshold, aggression, rps_threshold: rps } = config;
    if (threshold && (threshold.default_value?.value ?? 0) < LEAST_THRESHOLD_PERCENT) {
      place.field('sr_threshold').error('Success rate threshold cannot be less than 1.0%.');
    }
    return {
      admission_control: {
        enabled: compileFlag(config.enabled, context),
        ...compileCriteria(config.success_criteria ?? {}, place.field('success_criteria')),
        sampling_window_ms: wholeMs(config.sampling_window, SAMPLING_WINDOW_MS),
        aggression: context.runtime.liveDecimalMillionths(
          aggression?.runtime_key,
          aggression ? (aggression.default_value ?? 0) : AGGRESSION,
        ),
        success_threshold: percent(threshold, SUCCESS_THRESHOLD_PERCENT),
        max_rejection: percent(config.max_rejection_probability, MAX_REJECTION_PERCENT),
        rps_threshold: context.runtime.liveNumber(rps?.runtime_key, rps?.default_value ?? 0),
      },
    };
  },
});

function compileCriteria(criteria: Criteria, place: Place) {
  refuseOtherFields(place, criteria, CRITERIA);
  const { http_criteria: http, grpc_criteria: grpc } = criteria;
  const ranges = (http?.http_success_status ?? []).map(({ start = 0, end = 0 }, index) => {
    if (start > end || start < 100 || start >= 600 || end > 600) {
      place
        .field('http_criteria')
        .field('http_success_status')
        .index(index)
        .error(`invalid HTTP range: [${start}, ${end})`);
    }
    return { first: start, end };
  });
  const statuses = grpc?.grpc_success_status ?? [];
  statuses.forEach((status, index) => {
    if (status <= MAX_GRPC_STATUS) return;
    place
      .field('grpc_criteria')
      .field('grpc_success_status')
      .index(index)
      .error(`invalid gRPC code ${status}`);
  });
  return {
    http_success: http ? ranges : HTTP_SUCCESS,
    grpc_success: grpc ? statuses : GRPC_SUCCESS,
  };
}
