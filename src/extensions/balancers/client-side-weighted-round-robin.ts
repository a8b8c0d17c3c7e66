// envoy.load_balancing_policies.client_side_weighted_round_robin
import type { envoy_extensions_load_balancing_policies_client_side_weighted_round_robin_v3_ClientSideWeightedRoundRobin as WeightedRoundRobin } from '../../../build/messages.gen.js';
import { compileLoadQuestions } from '../../plan/cluster/load-questions.js';
import { compileSlowStart } from '../../plan/cluster/slow-start.js';
import { defineExtension } from '../../plan/extension.js';
import type { BalancerPlan } from '../../plan/extension-plans.js';
import { wholeMs } from '../../plan/message/numbers.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { Cluster_Balancer } from '../../plan/plan.gen.js';

const FIELDS = supportedFields<WeightedRoundRobin>(
  'envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin',
  [
    'blackout_period',
    'weight_expiration_period',
    'weight_update_period',
    'error_utilization_penalty',
    'metric_names_for_computing_utilization',
    'slow_start_config',
    'enable_oob_load_report',
    'oob_reporting_period',
    'oob_reporting_config',
  ],
);

export const CLIENT_SIDE_WEIGHTED = FIELDS.type;

const DEFAULT_BLACKOUT_MS = 10_000;
const DEFAULT_EXPIRATION_MS = 180_000;
const DEFAULT_UPDATE_MS = 1000;
const PERIODS = ['blackout_period', 'weight_expiration_period', 'weight_update_period'] as const;
const MILLION = 1_000_000;

export const clientSideWeightedRoundRobin = defineExtension<WeightedRoundRobin, BalancerPlan>({
  name: 'envoy.load_balancing_policies.client_side_weighted_round_robin',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    for (const name of PERIODS) {
      if ((config[name] ?? 0) < 0) {
        place.field(name).error('Invalid duration: Expected positive duration');
      }
    }
    return {
      balancer: Cluster_Balancer.ROUND_ROBIN,
      slow_start: compileSlowStart(
        config.slow_start_config,
        place.field('slow_start_config'),
        context,
      ),
      load_questions: compileLoadQuestions(config, place),
      load_weights: {
        blackout_ms: wholeMs(config.blackout_period, DEFAULT_BLACKOUT_MS),
        expiration_ms: wholeMs(config.weight_expiration_period, DEFAULT_EXPIRATION_MS),
        update_ms: Math.max(1, wholeMs(config.weight_update_period, DEFAULT_UPDATE_MS)),
        // As in the real server, whose documentation says otherwise.
        error_penalty_millionths: Math.round((config.error_utilization_penalty ?? 0) * MILLION),
        metrics: config.metric_names_for_computing_utilization,
      },
    };
  },
});
