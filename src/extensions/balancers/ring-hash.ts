// envoy.load_balancing_policies.ring_hash
import type { envoy_extensions_load_balancing_policies_ring_hash_v3_RingHash as RingHash } from '../../../build/messages.gen.js';
import {
  compileHashing,
  compileHashPolicy,
  compileRingHash,
  RING_HASH,
} from '../../plan/cluster/hash-table.js';
import { defineExtension } from '../../plan/extension.js';
import type { BalancerPlan } from '../../plan/extension-plans.js';

export const ringHash = defineExtension<RingHash, BalancerPlan | undefined>({
  name: 'envoy.load_balancing_policies.ring_hash',
  type: RING_HASH.type,
  compile(config, place) {
    const common = config.consistent_hashing_lb_config;
    const hashing = common
      ? compileHashing(common, place.field('consistent_hashing_lb_config'))
      : {
          by_hostname: config.use_hostname_for_hashing,
          balance_factor_pct: config.hash_balance_factor,
        };
    const plan = compileRingHash(config, hashing, place);
    return (
      plan && {
        ...plan,
        ...compileHashPolicy(common, place.field('consistent_hashing_lb_config')),
        weighs_localities: config.locality_weighted_lb_config !== undefined,
      }
    );
  },
});
