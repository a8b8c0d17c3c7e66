// Balancers by hashes of requests, ring hash and Maglev, as lb_policy or as extensions configure
// them.
import type {
  envoy_config_cluster_v3_Cluster_CommonLbConfig_ConsistentHashingLbConfig as OldHashingConfig,
  envoy_config_cluster_v3_Cluster_MaglevLbConfig as MaglevLbConfig,
  envoy_config_cluster_v3_Cluster_RingHashLbConfig as RingHashLbConfig,
  envoy_extensions_load_balancing_policies_common_v3_ConsistentHashingLbConfig as HashingConfig,
  envoy_extensions_load_balancing_policies_maglev_v3_Maglev as Maglev,
  envoy_extensions_load_balancing_policies_ring_hash_v3_RingHash as RingHash,
} from '../../../build/messages.gen.js';
import type { BalancerPlan } from '../extension-plans.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { compileHashPolicies } from '../route/hash-policies.js';
import { Cluster_Balancer, HashTable_Function, type HashTable } from '../plan.gen.js';

export const RING_HASH = supportedFields<RingHash>(
  'envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash',
  [
    'hash_function',
    'minimum_ring_size',
    'maximum_ring_size',
    'use_hostname_for_hashing',
    'hash_balance_factor',
    'consistent_hashing_lb_config',
    'locality_weighted_lb_config',
  ],
);
export const MAGLEV = supportedFields<Maglev>(
  'envoy.extensions.load_balancing_policies.maglev.v3.Maglev',
  ['table_size', 'consistent_hashing_lb_config', 'locality_weighted_lb_config'],
);
const HASHING = supportedFields<HashingConfig>(
  'envoy.extensions.load_balancing_policies.common.v3.ConsistentHashingLbConfig',
  ['use_hostname_for_hashing', 'hash_balance_factor', 'hash_policy'],
);

const DEFAULT_MIN_RING = 1024;
const DEFAULT_MAX_RING = 8 * 1024 * 1024;
const DEFAULT_MAGLEV = 65_537;

/** Both the extension's message and the older one inside of a cluster. */
export function compileRingHash(
  config: RingHash | RingHashLbConfig,
  hashing: HashTable,
  place: Place,
): BalancerPlan | undefined {
  refuseOtherFields(place, config, RING_HASH);
  const min = config.minimum_ring_size ?? DEFAULT_MIN_RING;
  const max = config.maximum_ring_size ?? DEFAULT_MAX_RING;
  if (min > max) {
    place.error(`ring hash: minimum_ring_size (${min}) > maximum_ring_size (${max})`);
    return undefined;
  }
  const isMurmur = config.hash_function === 'MURMUR_HASH_2';
  return {
    balancer: Cluster_Balancer.RING_HASH,
    hash_table: {
      ...hashing,
      min_size: min,
      max_size: max,
      function: isMurmur ? HashTable_Function.MURMUR_HASH_2 : HashTable_Function.XX_HASH,
    },
  };
}

/** The same of Maglev. */
export function compileMaglev(
  config: Maglev | MaglevLbConfig,
  hashing: HashTable,
  place: Place,
): BalancerPlan | undefined {
  refuseOtherFields(place, config, MAGLEV);
  const size = config.table_size ?? DEFAULT_MAGLEV;
  if (!isPrime(size)) {
    place.field('table_size').error('The table size of maglev must be prime number', {
      expected: `a prime, such as ${primeFrom(size)}`,
    });
    return undefined;
  }
  return { balancer: Cluster_Balancer.MAGLEV, hash_table: { ...hashing, table_size: size } };
}

/** What both have in common. */
export function compileHashing(
  config: HashingConfig | OldHashingConfig | undefined,
  place: Place,
): HashTable {
  if (!config) return {};
  refuseOtherFields(place, config, HASHING);
  return {
    by_hostname: config.use_hostname_for_hashing,
    balance_factor_pct: config.hash_balance_factor,
  };
}

/** What hashes are made of, in place of what routes say. */
export function compileHashPolicy(
  config: HashingConfig | undefined,
  place: Place,
): Pick<BalancerPlan, 'hashPolicies'> {
  if (!config?.hash_policy || config.hash_policy.length === 0) return {};
  const at = place.field('hash_policy');
  config.hash_policy.forEach((policy, index) => {
    const { terminal: _, ...specifier } = policy;
    if (Object.keys(specifier).length === 0) at.index(index).error('has no policy_specifier');
  });
  return { hashPolicies: compileHashPolicies(config.hash_policy, at) };
}

function isPrime(number: number): boolean {
  if (number < 2) return false;
  for (let divisor = 2; divisor * divisor <= number; divisor++) {
    if (number % divisor === 0) return false;
  }
  return true;
}

function primeFrom(number: number): number {
  let prime = number;
  while (!isPrime(prime)) prime++;
  return prime;
}
