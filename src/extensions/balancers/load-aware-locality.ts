// envoy.load_balancing_policies.load_aware_locality
import type { envoy_extensions_load_balancing_policies_load_aware_locality_v3_LoadAwareLocality as LoadAwareLocality } from '../../../build/messages.gen.js';
import { compileLoadQuestions } from '../../plan/cluster/load-questions.js';
import { choosePolicy } from '../../plan/cluster/policies.js';
import { defineExtension } from '../../plan/extension.js';
import type { BalancerPlan } from '../../plan/extension-plans.js';
import { wholeMs } from '../../plan/message/numbers.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { Cluster_Balancer } from '../../plan/plan.gen.js';

const FIELDS = supportedFields<LoadAwareLocality>(
  'envoy.extensions.load_balancing_policies.load_aware_locality.v3.LoadAwareLocality',
  [
    'endpoint_picking_policy',
    'weight_update_period',
    'metric_names_for_computing_utilization',
    'utilization_variance_threshold',
    'smoothing_time_constant',
    'remote_probe_fraction',
    'weight_expiration_period',
    'enable_oob_load_report',
    'oob_reporting_period',
    'oob_reporting_config',
  ],
);

const DEFAULT_UPDATE_MS = 1000;
const DEFAULT_SMOOTHING_MS = 5000;
const DEFAULT_EXPIRATION_MS = 180_000;
const DEFAULT_THRESHOLD = 0.1;
const DEFAULT_PROBE = 0.03;
const MILLION = 1_000_000;

export const loadAwareLocality = defineExtension<LoadAwareLocality, BalancerPlan | undefined>({
  name: 'envoy.load_balancing_policies.load_aware_locality',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const at = place.field('endpoint_picking_policy');
    const child = choosePolicy(config.endpoint_picking_policy, at, context);
    if (!child) return undefined;
    if (child.locality_loads) {
      at.error('load_aware_locality cannot be its own endpoint_picking_policy');
    } else if (!choosesWithinLocality(child)) {
      at.error('this balancer is not supported yet as an endpoint picking policy of localities', {
        expected: 'round_robin, least_request, random or client_side_weighted_round_robin',
      });
    }
    const here = context.nodeLocality ?? {};
    const millionths = (part: number): number => Math.round(part * MILLION);
    const questions = compileLoadQuestions(config, place);
    return {
      ...child,
      // What a policy says of localities, and of panics, has no sense within one.
      weighs_localities: false,
      fails_in_panic: false,
      zones: undefined,
      ...(questions && { load_questions: questions }),
      locality_loads: {
        update_ms: wholeMs(config.weight_update_period, DEFAULT_UPDATE_MS),
        metrics: config.metric_names_for_computing_utilization,
        threshold_millionths: millionths(
          config.utilization_variance_threshold ?? DEFAULT_THRESHOLD,
        ),
        smoothing_ms: wholeMs(config.smoothing_time_constant, DEFAULT_SMOOTHING_MS),
        probe_millionths: millionths(config.remote_probe_fraction ?? DEFAULT_PROBE),
        expiration_ms: wholeMs(config.weight_expiration_period, DEFAULT_EXPIRATION_MS),
        region: here.region,
        zone: here.zone,
        sub_zone: here.sub_zone,
      },
    };
  },
});

/** It looks at nothing but the hosts that it is given. */
function choosesWithinLocality(child: BalancerPlan): boolean {
  const isByHash =
    child.balancer === Cluster_Balancer.RING_HASH || child.balancer === Cluster_Balancer.MAGLEV;
  return !isByHash && !child.subsets && !child.host_overrides && !child.weighs_localities;
}
