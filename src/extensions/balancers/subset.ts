// envoy.load_balancing_policies.subset
import type { envoy_extensions_load_balancing_policies_subset_v3_Subset as Subset } from '../../../build/messages.gen.js';
import { choosePolicy } from '../../plan/cluster/policies.js';
import { compileSubsets, SUBSET } from '../../plan/cluster/subsets.js';
import { defineExtension } from '../../plan/extension.js';
import type { BalancerPlan } from '../../plan/extension-plans.js';

export const subset = defineExtension<Subset, BalancerPlan | undefined>({
  name: 'envoy.load_balancing_policies.subset',
  type: SUBSET.type,
  compile(config, place, context) {
    const subsets = compileSubsets(config, place);
    const child = choosePolicy(config.subset_lb_policy, place.field('subset_lb_policy'), context);
    return (
      child && {
        ...child,
        weighs_localities: child.weighs_localities && config.locality_weight_aware,
        subsets,
      }
    );
  },
});
