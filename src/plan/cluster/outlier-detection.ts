// When hosts of a cluster are put out for what becomes of requests to them.
import type {
  envoy_config_bootstrap_v3_ClusterManager_OutlierDetection as EventLogConfig,
  envoy_config_cluster_v3_OutlierDetection as OutlierDetectionConfig,
} from '../../../build/messages.gen.js';
import { checkLogPath } from '../access-log/log-path.js';
import type { CompileContext } from '../extension.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { LiveNumber, OutlierDetection } from '../plan.gen.js';

const OUTLIER = supportedFields<OutlierDetectionConfig>(
  'envoy.config.cluster.v3.OutlierDetection',
  [
    'consecutive_5xx',
    'interval',
    'base_ejection_time',
    'max_ejection_percent',
    'enforcing_consecutive_5xx',
    'enforcing_success_rate',
    'success_rate_minimum_hosts',
    'success_rate_request_volume',
    'success_rate_stdev_factor',
    'consecutive_gateway_failure',
    'enforcing_consecutive_gateway_failure',
    'split_external_local_origin_errors',
    'consecutive_local_origin_failure',
    'enforcing_consecutive_local_origin_failure',
    'enforcing_local_origin_success_rate',
    'failure_percentage_threshold',
    'enforcing_failure_percentage',
    'enforcing_failure_percentage_local_origin',
    'failure_percentage_minimum_hosts',
    'failure_percentage_request_volume',
    'max_ejection_time',
    'max_ejection_time_jitter',
    'successful_active_health_check_uneject_host',
    'always_eject_one_host',
    'detect_degraded_hosts',
  ],
);
const EVENT_LOG = supportedFields<EventLogConfig>(
  'envoy.config.bootstrap.v3.ClusterManager.OutlierDetection',
  // As in the real server, nobody is told of events by a service.
  ['event_log_path', 'event_service'],
);

/** What holds where a cluster says nothing else, by the names of the fields. */
const DEFAULTS = {
  consecutive_5xx: 5,
  enforcing_consecutive_5xx: 100,
  consecutive_gateway_failure: 5,
  enforcing_consecutive_gateway_failure: 0,
  consecutive_local_origin_failure: 5,
  enforcing_consecutive_local_origin_failure: 100,
  max_ejection_percent: 10,
  success_rate_minimum_hosts: 5,
  success_rate_request_volume: 100,
  success_rate_stdev_factor: 1900,
  enforcing_success_rate: 100,
  enforcing_local_origin_success_rate: 100,
  failure_percentage_threshold: 85,
  failure_percentage_minimum_hosts: 5,
  failure_percentage_request_volume: 50,
  enforcing_failure_percentage: 0,
  enforcing_failure_percentage_local_origin: 0,
} as const;
const DEFAULT_INTERVAL_MS = 10_000;
const DEFAULT_BASE_EJECTION_MS = 30_000;
const DEFAULT_MAX_EJECTION_MS = 300_000;

type Numbers = { readonly [Name in keyof typeof DEFAULTS]: LiveNumber };

/** Undefined: hosts are used whatever becomes of requests to them. */
export function compileOutlierDetection(
  config: OutlierDetectionConfig | undefined,
  place: Place,
  context: CompileContext,
): OutlierDetection | undefined {
  if (!config) return undefined;
  refuseOtherFields(place, config, OUTLIER);
  const live = (name: string, fallback: number): LiveNumber =>
    context.runtime.liveNumber(`outlier_detection.${name}`, fallback);
  const baseMs = wholeMs(config.base_ejection_time, DEFAULT_BASE_EJECTION_MS);
  const maxMs = wholeMs(config.max_ejection_time, Math.max(DEFAULT_MAX_EJECTION_MS, baseMs));
  if (maxMs < baseMs) {
    place
      .field('max_ejection_time')
      .error("outlier detector's max_ejection_time cannot be smaller than base_ejection_time", {
        expected: `at least ${baseMs} ms, as base_ejection_time says`,
      });
  }
  const names = Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[];
  const numbers = Object.fromEntries(
    names.map((name) => [name, live(name, config[name] ?? DEFAULTS[name])]),
  ) as Numbers;
  return {
    ...numbers,
    interval_ms: live('interval_ms', wholeMs(config.interval, DEFAULT_INTERVAL_MS)),
    base_ejection_time_ms: live('base_ejection_time_ms', baseMs),
    max_ejection_time_ms: live('max_ejection_time_ms', maxMs),
    max_ejection_time_jitter_ms: live(
      'max_ejection_time_jitter_ms',
      wholeMs(config.max_ejection_time_jitter, 0),
    ),
    always_ejects_one: config.always_eject_one_host ?? false,
    splits_local_origin: config.split_external_local_origin_errors ?? false,
    ends_with_health_check: config.successful_active_health_check_uneject_host ?? true,
    detects_degraded: config.detect_degraded_hosts ?? false,
  };
}

/** The path of the file that tells of hosts that are put out; empty: there is none. */
export function compileOutlierLog(config: EventLogConfig | undefined, place: Place): string {
  if (!config) return '';
  refuseOtherFields(place, config, EVENT_LOG);
  if (config.event_service) {
    place.field('event_service').warn('has no effect: the real server tells no service either');
  }
  const path = config.event_log_path ?? '';
  checkLogPath(path, place.field('event_log_path'));
  return path;
}
