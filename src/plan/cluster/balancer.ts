// Which balancer a cluster has: lb_policy, or the first known of load_balancing_policy.
import type {
  envoy_config_cluster_v3_Cluster as ClusterMessage,
  envoy_config_cluster_v3_Cluster_RoundRobinLbConfig as RoundRobinLbConfig,
} from '../../../build/messages.gen.js';
import { compileHashing, compileMaglev, compileRingHash } from './hash-table.js';
import { compileLeastRequest } from './least-request.js';
import { isProvidedByPolicy } from './aggregate.js';
import { choosePolicy } from './policies.js';
import { compileSlowStart } from './slow-start.js';
import { compileOldSubsets } from './subsets.js';
import { compileOldLocalities } from './zones.js';
import type { CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';
import type { BalancerPlan } from '../extension-plans.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { Cluster_Balancer, type HashTable } from '../plan.gen.js';

const ROUND_ROBIN = supportedFields<RoundRobinLbConfig>(
  'envoy.config.cluster.v3.Cluster.RoundRobinLbConfig',
  ['slow_start_config'],
);
/** Where each balancer is configured. */
const CONFIGS = {
  ROUND_ROBIN: 'round_robin_lb_config',
  LEAST_REQUEST: 'least_request_lb_config',
  RING_HASH: 'ring_hash_lb_config',
  MAGLEV: 'maglev_lb_config',
} as const satisfies Partial<
  Record<NonNullable<ClusterMessage['lb_policy']>, keyof ClusterMessage>
>;

/** Undefined after an error. `isProvided`: the kind of cluster says where requests go. */
export function compileBalancer(
  cluster: ClusterMessage,
  place: Place,
  context: CompileContext,
  isProvided = false,
): BalancerPlan | undefined {
  checkHostnames(cluster, place);
  refuseSubsets(cluster, place, isProvided);
  // Where it says otherwise is refused with the kind of cluster.
  if (isProvided) {
    if (cluster.lb_subset_config?.subset_selectors?.length) {
      place
        .field('lb_subset_config')
        .error('cluster: LB policy CLUSTER_PROVIDED cannot be combined with lb_subset_config');
    }
    return { balancer: Cluster_Balancer.ROUND_ROBIN };
  }
  if (cluster.type === 'ORIGINAL_DST' && isProvidedByPolicy(cluster)) {
    return { balancer: Cluster_Balancer.ROUND_ROBIN };
  }
  if (cluster.load_balancing_policy || cluster.lb_policy === 'LOAD_BALANCING_POLICY_CONFIG') {
    return compilePolicies(cluster, place, context);
  }
  const localities = compileOldLocalities(
    cluster.common_lb_config ?? {},
    place.field('common_lb_config'),
    context,
  );
  const plan = compileNamed(cluster, place, context);
  const config = cluster.lb_subset_config;
  if (config?.locality_weight_aware && !localities.weighs_localities) {
    const at = place.field('lb_subset_config').field('locality_weight_aware');
    at.error(
      'Locality weight aware subset LB requires that a locality_weighted_lb_config be set in ' +
        (cluster.name ?? ''),
    );
  }
  const subsets = config && compileOldSubsets(config, place.field('lb_subset_config'));
  return (
    plan && {
      ...localities,
      ...plan,
      ...(subsets && {
        subsets,
        weighs_localities: localities.weighs_localities && config.locality_weight_aware,
      }),
    }
  );
}

/** Balancers that choose by themselves, or by a policy, know nothing of this field. */
function refuseSubsets(cluster: ClusterMessage, place: Place, isProvided: boolean): void {
  if (!cluster.lb_subset_config) return;
  const at = place.field('lb_subset_config');
  if (isProvided) {
    at.error('cluster: LB policy CLUSTER_PROVIDED cannot be combined with lb_subset_config');
  } else if (cluster.load_balancing_policy) {
    at.error('cluster: load_balancing_policy cannot be combined with lb_subset_config', {
      expected: 'envoy.load_balancing_policies.subset',
    });
  }
}

function compileNamed(
  cluster: ClusterMessage,
  place: Place,
  context: CompileContext,
): BalancerPlan | undefined {
  warnOfOthers(cluster, place);
  const policy = cluster.lb_policy ?? 'ROUND_ROBIN';
  switch (policy) {
    case 'ROUND_ROBIN': {
      const at = place.field(CONFIGS[policy]);
      return compileRoundRobin(cluster.round_robin_lb_config ?? {}, at, context);
    }
    case 'RANDOM':
      return { balancer: Cluster_Balancer.RANDOM };
    case 'LEAST_REQUEST': {
      const at = place.field(CONFIGS[policy]);
      return compileLeastRequest(cluster.least_request_lb_config ?? {}, at, context);
    }
    case 'RING_HASH': {
      const at = place.field(CONFIGS[policy]);
      return compileRingHash(cluster.ring_hash_lb_config ?? {}, hashingOf(cluster, place), at);
    }
    case 'MAGLEV': {
      const at = place.field(CONFIGS[policy]);
      return compileMaglev(cluster.maglev_lb_config ?? {}, hashingOf(cluster, place), at);
    }
    case 'CLUSTER_PROVIDED':
      return compileProvided(cluster, place.field('lb_policy'));
    default:
      place.field('lb_policy').error(`the balancer ${policy} is not supported yet`, {
        expected: 'ROUND_ROBIN, LEAST_REQUEST, RANDOM, RING_HASH or MAGLEV',
      });
      return undefined;
  }
}

/** The kind of cluster says how: whatever else there is, is not asked. */
function compileProvided(cluster: ClusterMessage, place: Place): BalancerPlan | undefined {
  if (cluster.type === 'ORIGINAL_DST') return { balancer: Cluster_Balancer.ROUND_ROBIN };
  // It may; it is not known yet, and has been refused.
  if (cluster.cluster_type) return undefined;
  place.error(
    `cluster manager: cluster provided LB specified but cluster '${cluster.name ?? ''}' did not ` +
      'provide one. Check cluster documentation.',
  );
  return undefined;
}

function compileRoundRobin(
  config: RoundRobinLbConfig,
  place: Place,
  context: CompileContext,
): BalancerPlan {
  refuseOtherFields(place, config, ROUND_ROBIN);
  return {
    balancer: Cluster_Balancer.ROUND_ROBIN,
    slow_start: compileSlowStart(
      config.slow_start_config,
      place.field('slow_start_config'),
      context,
    ),
  };
}

/** Only hosts that DNS is asked for have names of their own, as the real server has it. */
function checkHostnames(cluster: ClusterMessage, place: Place): void {
  const type = cluster.type ?? 'STATIC';
  const hashing = cluster.common_lb_config?.consistent_hashing_lb_config;
  if (!hashing?.use_hostname_for_hashing || type === 'STRICT_DNS') return;
  place
    .field('common_lb_config')
    .field('consistent_hashing_lb_config')
    .field('use_hostname_for_hashing')
    .error(
      'Cannot use hostname for consistent hashing loadbalancing for cluster of type: ' +
        `'envoy.cluster.${type.toLowerCase()}'`,
      { expected: 'type: STRICT_DNS' },
    );
}

function hashingOf(cluster: ClusterMessage, place: Place): HashTable {
  const at = place.field('common_lb_config').field('consistent_hashing_lb_config');
  return compileHashing(cluster.common_lb_config?.consistent_hashing_lb_config, at);
}

/** What configures a balancer that is not this cluster's changes nothing, as in the real server. */
function warnOfOthers(cluster: ClusterMessage, place: Place): void {
  const policy = cluster.lb_policy ?? 'ROUND_ROBIN';
  for (const [owner, name] of Object.entries(CONFIGS)) {
    if (owner === policy || cluster[name] === undefined) continue;
    place.field(name).warn(`has no effect beside lb_policy: ${policy}`);
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
  if (!cluster.load_balancing_policy?.policies) {
    place
      .field('load_balancing_policy')
      .error('cluster: field load_balancing_policy need to be set');
    return undefined;
  }
  return choosePolicy(cluster.load_balancing_policy, place.field('load_balancing_policy'), context);
}
