// How new hosts are given their share little by little.
import type {
  envoy_config_cluster_v3_Cluster_SlowStartConfig as OldSlowStartConfig,
  envoy_extensions_load_balancing_policies_common_v3_SlowStartConfig as SlowStartConfig,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { SlowStart } from '../plan.gen.js';

const SLOW_START = supportedFields<SlowStartConfig>(
  'envoy.extensions.load_balancing_policies.common.v3.SlowStartConfig',
  ['slow_start_window', 'aggression', 'min_weight_percent'],
);

const DEFAULT_MIN_PERCENT = 10;
const MILLION = 1_000_000;

/** Both the extensions' message and the older one inside of a cluster. */
export function compileSlowStart(
  config: SlowStartConfig | OldSlowStartConfig | undefined,
  place: Place,
  context: CompileContext,
): SlowStart | undefined {
  if (!config) return undefined;
  refuseOtherFields(place, config, SLOW_START);
  const aggression = context.runtime.liveDecimalMillionths(
    config.aggression?.runtime_key,
    config.aggression ? (config.aggression.default_value ?? 0) : 1,
  );
  const minPercent = config.min_weight_percent
    ? (config.min_weight_percent.value ?? 0)
    : DEFAULT_MIN_PERCENT;
  return {
    window_ms: wholeMs(config.slow_start_window, 0),
    aggression_millionths: aggression.value,
    aggression_slot: aggression.slot,
    min_share_millionths: Math.round((minPercent / 100) * MILLION),
  };
}
