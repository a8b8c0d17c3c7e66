// envoy.load_balancing_policies.round_robin
import type { envoy_extensions_load_balancing_policies_round_robin_v3_RoundRobin as RoundRobin } from '../../../build/messages.gen.js';
import { compileSlowStart } from '../../plan/cluster/slow-start.js';
import { compileLocalities } from '../../plan/cluster/zones.js';
import type { BalancerPlan } from '../../plan/extension-plans.js';
import { Cluster_Balancer } from '../../plan/plan.gen.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { defineExtension } from '../../plan/extension.js';

const FIELDS = supportedFields<RoundRobin>(
  'envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin',
  ['slow_start_config', 'locality_lb_config'],
);

export const roundRobin = defineExtension<RoundRobin, BalancerPlan>({
  name: 'envoy.load_balancing_policies.round_robin',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    return {
      balancer: Cluster_Balancer.ROUND_ROBIN,
      slow_start: compileSlowStart(
        config.slow_start_config,
        place.field('slow_start_config'),
        context,
      ),
      ...compileLocalities(config.locality_lb_config, place.field('locality_lb_config'), context),
    };
  },
});
