// Which balancer a cluster has: lb_policy, or the first known of load_balancing_policy.
import type { envoy_config_cluster_v3_Cluster as ClusterMessage } from '../../../build/messages.gen.js';
import { compileLeastRequest } from './least-request.js';
import type { CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';
import type { BalancerPlan } from '../extension-plans.js';
import { Cluster_Balancer } from '../plan.gen.js';

/** Undefined after an error. */
export function compileBalancer(
  cluster: ClusterMessage,
  place: Place,
  context: CompileContext,
): BalancerPlan | undefined {
  if (cluster.load_balancing_policy || cluster.lb_policy === 'LOAD_BALANCING_POLICY_CONFIG') {
    return compilePolicies(cluster, place, context);
  }
  switch (cluster.lb_policy ?? 'ROUND_ROBIN') {
    case 'ROUND_ROBIN':
      return { balancer: Cluster_Balancer.ROUND_ROBIN };
    case 'RANDOM':
      return { balancer: Cluster_Balancer.RANDOM };
    case 'LEAST_REQUEST': {
      const config = cluster.least_request_lb_config ?? {};
      return compileLeastRequest(config, place.field('least_request_lb_config'), context);
    }
    default:
      place.field('lb_policy').error(`the balancer ${cluster.lb_policy} is not supported yet`, {
        expected: 'ROUND_ROBIN, LEAST_REQUEST or RANDOM',
      });
      return undefined;
  }
}

function compilePolicies(
  cluster: ClusterMessage,
  place: Place,
  context: CompileContext,
): BalancerPlan | undefined {
  const common = cluster.common_lb_config;
  if (
    common?.zone_aware_lb_config ||
    common?.locality_weighted_lb_config ||
    common?.consistent_hashing_lb_config
  ) {
    place
      .field('common_lb_config')
      .error(
        'cluster: load_balancing_policy cannot be combined with partial fields (zone_aware_lb_config, ' +
          'locality_weighted_lb_config, consistent_hashing_lb_config) of common_lb_config',
      );
    return undefined;
  }
  const policies = cluster.load_balancing_policy?.policies;
  if (!policies) {
    place
      .field('load_balancing_policy')
      .error('cluster: field load_balancing_policy need to be set');
    return undefined;
  }
  const at = place.field('load_balancing_policy').field('policies');
  for (const [index, policy] of policies.entries()) {
    const config = policy.typed_extension_config?.typed_config;
    const found = context.extensions.balancers.find((balancer) => balancer.type === config?.$type);
    if (!found || found.isDisabled || !config) continue;
    const where = at.index(index).field('typed_extension_config').field('typed_config');
    return found.compile(config, where, context);
  }
  const names = policies.map(({ typed_extension_config: config }) =>
    config?.typed_config
      ? `${config.name ?? ''} (${config.typed_config.$type})`
      : (config?.name ?? ''),
  );
  at.error(`these balancers are not supported yet: ${names.join(', ')}`, {
    expected: `one of ${context.extensions.balancers.map((balancer) => balancer.type).join(', ')}`,
  });
  return undefined;
}
