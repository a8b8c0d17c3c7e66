// What is said of all endpoints of a cluster together.
import type { envoy_config_endpoint_v3_ClusterLoadAssignment_Policy as Policy } from '../../../build/messages.gen.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { Assignment } from '../plan.gen.js';
import { DENOMINATORS } from '../message/numbers.js';

/** What an assignment says beside its hosts. */
export type AssignmentPolicy = Omit<Assignment, 'cluster_name' | 'hosts'>;

// How long endpoints are good for is only asked where EDS names them.
const POLICY = supportedFields<Policy>('envoy.config.endpoint.v3.ClusterLoadAssignment.Policy', [
  'overprovisioning_factor',
  'weighted_priority_health',
  'drop_overloads',
  'endpoint_stale_after',
]);

const DEFAULT_OVERPROVISIONING_PCT = 140;

export function compilePolicy(policy: Policy, place: Place): AssignmentPolicy {
  refuseOtherFields(place, policy, POLICY);
  const [drop, ...others] = policy.drop_overloads ?? [];
  const at = place.field('drop_overloads');
  if (others.length > 0) {
    at.error(
      `Cluster drop_overloads config has ${others.length + 1} categories. Envoy only support one.`,
      { expected: 'one of them' },
    );
  }
  const { numerator = 0, denominator = 'HUNDRED' } = drop?.drop_percentage ?? {};
  const share = numerator / DENOMINATORS[denominator];
  if (share > 1) {
    at.index(0)
      .field('drop_percentage')
      .error(
        `Cluster drop_overloads config is invalid. drop_ratio=${share}(Numerator ${numerator} / ` +
          `Denominator ${DENOMINATORS[denominator]}). The valid range is 0~1.`,
      );
  }
  return {
    overprovisioning_factor_pct: policy.overprovisioning_factor ?? DEFAULT_OVERPROVISIONING_PCT,
    ...(policy.weighted_priority_health && { weighs_health: true }),
    ...(drop && {
      drop_millionths: Math.round(share * DENOMINATORS.MILLION),
      drop_category: drop.category ?? '',
    }),
  };
}
