// The first balancer of a load_balancing_policy that is known here.
import type { envoy_config_cluster_v3_LoadBalancingPolicy as LoadBalancingPolicy } from '../../../build/messages.gen.js';
import type { BalancerPlan } from '../extension-plans.js';
import type { CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';

/** Undefined after an error. */
export function choosePolicy(
  message: LoadBalancingPolicy | undefined,
  place: Place,
  context: CompileContext,
): BalancerPlan | undefined {
  const policies = message?.policies ?? [];
  const at = place.field('policies');
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
