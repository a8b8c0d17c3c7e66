// envoy.load_balancing_policies.round_robin
import type { envoy_extensions_load_balancing_policies_round_robin_v3_RoundRobin as RoundRobin } from '../../../build/messages.gen.js';
import type { BalancerPlan } from '../../plan/extension-plans.js';
import { Cluster_Balancer } from '../../plan/plan.gen.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { defineExtension } from '../../plan/extension.js';

const FIELDS = supportedFields<RoundRobin>(
  'envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin',
  [],
  { locality_lb_config: {} },
);

export const roundRobin = defineExtension<RoundRobin, BalancerPlan>({
  name: 'envoy.load_balancing_policies.round_robin',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return { balancer: Cluster_Balancer.ROUND_ROBIN };
  },
});
