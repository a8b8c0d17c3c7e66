// Subsets: which hosts a request may go to depends on its route's metadata and on theirs.
import type {
  envoy_config_cluster_v3_Cluster_LbSubsetConfig as LbSubsetConfig,
  envoy_config_cluster_v3_Cluster_LbSubsetConfig_LbSubsetSelector as LbSubsetSelector,
  envoy_extensions_load_balancing_policies_subset_v3_Subset as Subset,
  envoy_extensions_load_balancing_policies_subset_v3_Subset_LbSubsetSelector as Selector,
} from '../../../build/messages.gen.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import {
  Subsets_Fallback,
  SubsetSelector_Fallback,
  type SubsetSelector,
  type Subsets,
} from '../plan.gen.js';
import { wantedOf } from '../host-labels.js';

export const SUBSET = supportedFields<Subset>(
  'envoy.extensions.load_balancing_policies.subset.v3.Subset',
  [
    'fallback_policy',
    'default_subset',
    'subset_selectors',
    'locality_weight_aware',
    'scale_locality_weight',
    'panic_mode_any',
    'list_as_any',
    'metadata_fallback_policy',
    'subset_lb_policy',
    'allow_redundant_keys',
  ],
);
const SELECTOR = supportedFields<Selector>(
  'envoy.extensions.load_balancing_policies.subset.v3.Subset.LbSubsetSelector',
  ['keys', 'fallback_policy', 'fallback_keys_subset', 'single_host_per_subset'],
);

const FALLBACKS = {
  NO_FALLBACK: Subsets_Fallback.NONE,
  ANY_ENDPOINT: Subsets_Fallback.ANY,
  DEFAULT_SUBSET: Subsets_Fallback.DEFAULT,
} as const;
const SELECTOR_FALLBACKS = {
  NOT_DEFINED: SubsetSelector_Fallback.OF_CLUSTER,
  NO_FALLBACK: SubsetSelector_Fallback.NONE,
  ANY_ENDPOINT: SubsetSelector_Fallback.ANY,
  DEFAULT_SUBSET: SubsetSelector_Fallback.DEFAULT,
  KEYS_SUBSET: SubsetSelector_Fallback.KEYS,
} as const;

/** Of the cluster's own message. Undefined where there are no selectors: requests may go to all hosts. */
export function compileOldSubsets(config: LbSubsetConfig, place: Place): Subsets | undefined {
  const subsets = compileSubsets(config, place);
  return (config.subset_selectors ?? []).length === 0 ? undefined : subsets;
}

/** Both the extension's message and the older one inside of a cluster. */
export function compileSubsets(config: Subset | LbSubsetConfig, place: Place): Subsets {
  refuseOtherFields(place, config, SUBSET);
  const selectors = config.subset_selectors ?? [];
  return {
    fallback: FALLBACKS[config.fallback_policy ?? 'NO_FALLBACK'],
    default_labels: wantedOf(config.default_subset ?? {}),
    // One without keys finds no host, whatever else it says, as in the real server.
    selectors: selectors.flatMap((selector, index) =>
      (selector.keys ?? []).length === 0
        ? []
        : compileSelector(selector, place.field('subset_selectors').index(index)),
    ),
    scales_weights: config.scale_locality_weight,
    panics_to_any: config.panic_mode_any,
    list_as_any: config.list_as_any,
    allows_redundant_keys: 'allow_redundant_keys' in config && config.allow_redundant_keys,
    follows_fallback_list: config.metadata_fallback_policy === 'FALLBACK_LIST',
  };
}

function compileSelector(selector: Selector | LbSubsetSelector, place: Place): SubsetSelector {
  refuseOtherFields(place, selector, SELECTOR);
  const keys = new Set(selector.keys);
  const fallbackKeys = new Set(selector.fallback_keys_subset);
  const policy = selector.fallback_policy ?? 'NOT_DEFINED';
  const at = place.field('fallback_keys_subset');
  if (policy !== 'KEYS_SUBSET' && fallbackKeys.size > 0) {
    at.error('fallback_keys_subset can be set only for KEYS_SUBSET fallback_policy');
  }
  if (policy === 'KEYS_SUBSET') {
    const others = [...fallbackKeys].filter((key) => !keys.has(key));
    if (fallbackKeys.size === 0) {
      at.error('fallback_keys_subset cannot be empty');
    } else if (others.length > 0) {
      at.error('fallback_keys_subset must be a subset of selector keys', {
        expected: `none but ${[...keys].join(', ')}`,
      });
    } else if (fallbackKeys.size === keys.size) {
      at.error('fallback_keys_subset cannot be equal to keys');
    }
  }
  return {
    keys: inOrder(keys),
    fallback: SELECTOR_FALLBACKS[policy],
    fallback_keys: inOrder(fallbackKeys),
    has_single_host: selector.single_host_per_subset,
  };
}

/** By their bytes, as the data plane has labels. */
function inOrder(keys: ReadonlySet<string>): string[] {
  return [...keys].sort((a, b) => (a < b ? -1 : 1));
}
