// envoy.load_balancing_policies.wrr_locality
import type { envoy_extensions_load_balancing_policies_wrr_locality_v3_WrrLocality as WrrLocality } from '../../../build/messages.gen.js';
import { choosePolicy } from '../../plan/cluster/policies.js';
import { defineExtension } from '../../plan/extension.js';
import type { BalancerPlan } from '../../plan/extension-plans.js';
import { CLIENT_SIDE_WEIGHTED } from './client-side-weighted-round-robin.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<WrrLocality>(
  'envoy.extensions.load_balancing_policies.wrr_locality.v3.WrrLocality',
  ['endpoint_picking_policy'],
);

export const wrrLocality = defineExtension<WrrLocality, BalancerPlan | undefined>({
  name: 'envoy.load_balancing_policies.wrr_locality',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const at = place.field('endpoint_picking_policy');
    const child = choosePolicy(config.endpoint_picking_policy, at, context);
    if (child && !child.load_weights) {
      at.error(
        'Currently WrrLocalityLoadBalancer only supports ClientSideWeightedRoundRobinLoadBalancer as ' +
          'its endpoint picking policy.',
        { expected: CLIENT_SIDE_WEIGHTED },
      );
    }
    return child && { ...child, weighs_localities: true };
  },
});
