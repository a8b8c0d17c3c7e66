// envoy.load_balancing_policies.random
import type { envoy_extensions_load_balancing_policies_random_v3_Random as Random } from '../../../build/messages.gen.js';
import { compileLocalities } from '../../plan/cluster/zones.js';
import type { BalancerPlan } from '../../plan/extension-plans.js';
import { Cluster_Balancer } from '../../plan/plan.gen.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { defineExtension } from '../../plan/extension.js';

const FIELDS = supportedFields<Random>(
  'envoy.extensions.load_balancing_policies.random.v3.Random',
  ['locality_lb_config'],
);

export const random = defineExtension<Random, BalancerPlan>({
  name: 'envoy.load_balancing_policies.random',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const at = place.field('locality_lb_config');
    return {
      balancer: Cluster_Balancer.RANDOM,
      ...compileLocalities(config.locality_lb_config, at, context),
    };
  },
});
