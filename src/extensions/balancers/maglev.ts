// envoy.load_balancing_policies.maglev
import type { envoy_extensions_load_balancing_policies_maglev_v3_Maglev as Maglev } from '../../../build/messages.gen.js';
import {
  compileHashing,
  compileHashPolicy,
  compileMaglev,
  MAGLEV,
} from '../../plan/cluster/hash-table.js';
import { defineExtension } from '../../plan/extension.js';
import type { BalancerPlan } from '../../plan/extension-plans.js';

export const maglev = defineExtension<Maglev, BalancerPlan | undefined>({
  name: 'envoy.load_balancing_policies.maglev',
  type: MAGLEV.type,
  compile(config, place) {
    const common = config.consistent_hashing_lb_config;
    const hashing = compileHashing(common, place.field('consistent_hashing_lb_config'));
    const plan = compileMaglev(config, hashing, place);
    return (
      plan && {
        ...plan,
        ...compileHashPolicy(common, place.field('consistent_hashing_lb_config')),
        weighs_localities: config.locality_weighted_lb_config !== undefined,
      }
    );
  },
});
