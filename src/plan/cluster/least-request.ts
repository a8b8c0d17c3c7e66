// The balancer of least requests, as lb_policy or as an extension configures it.
import type {
  envoy_config_cluster_v3_Cluster_LeastRequestLbConfig as LeastRequestLbConfig,
  envoy_extensions_load_balancing_policies_least_request_v3_LeastRequest as LeastRequest,
} from '../../../build/messages.gen.js';
import type { BalancerPlan } from '../extension-plans.js';
import type { CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';
import { Cluster_Balancer } from '../plan.gen.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { compileSlowStart } from './slow-start.js';

export const LEAST_REQUEST = supportedFields<LeastRequest>(
  'envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest',
  [
    'choice_count',
    'active_request_bias',
    'slow_start_config',
    'locality_lb_config',
    'enable_full_scan',
    'selection_method',
  ],
);

const DEFAULT_CHOICES = 2;
const DEFAULT_BIAS = 1;

/** Both the extension's message and the older one inside of a cluster, but for localities. */
export function compileLeastRequest(
  config: LeastRequest | LeastRequestLbConfig,
  place: Place,
  context: CompileContext,
): BalancerPlan {
  refuseOtherFields(place, config, LEAST_REQUEST);
  const bias = context.runtime.liveDecimalMillionths(
    config.active_request_bias?.runtime_key,
    config.active_request_bias ? (config.active_request_bias.default_value ?? 0) : DEFAULT_BIAS,
  );
  const fullScan =
    ('enable_full_scan' in config && config.enable_full_scan) ||
    ('selection_method' in config && config.selection_method === 'FULL_SCAN');
  return {
    balancer: Cluster_Balancer.LEAST_REQUEST,
    least_request_choices: config.choice_count ?? DEFAULT_CHOICES,
    least_request_full_scan: fullScan === true,
    request_bias_millionths: bias.value,
    request_bias_slot: bias.slot,
    slow_start: compileSlowStart(
      config.slow_start_config,
      place.field('slow_start_config'),
      context,
    ),
  };
}
