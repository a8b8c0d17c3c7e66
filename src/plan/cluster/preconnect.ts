// How many connections a cluster makes before anybody needs them.
import type { envoy_config_cluster_v3_Cluster_PreconnectPolicy as PreconnectPolicy } from '../../../build/messages.gen.js';
import { compileMetadataMatcher } from '../match/metadata.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { Place } from '../message/place.js';
import type { Cluster } from '../plan.gen.js';

const PRECONNECT = supportedFields<PreconnectPolicy>(
  'envoy.config.cluster.v3.Cluster.PreconnectPolicy',
  ['per_upstream_preconnect_ratio', 'predictive_preconnect_ratio', 'preconnect_enabled_metadata'],
);

const MILLION = 1_000_000;

export function compilePreconnect(policy: PreconnectPolicy, place: Place): Partial<Cluster> {
  refuseOtherFields(place, policy, PRECONNECT);
  const { preconnect_enabled_metadata: hosts } = policy;
  return {
    preconnect_millionths: millionthsAhead(policy.per_upstream_preconnect_ratio),
    predictive_preconnect_millionths: millionthsAhead(policy.predictive_preconnect_ratio),
    ...(hosts && {
      preconnect_condition: compileMetadataMatcher(
        hosts,
        place.field('preconnect_enabled_metadata'),
      ),
    }),
  };
}

/** 0: none are made ahead, which 1 means as well. */
function millionthsAhead(ratio = 1): number {
  return ratio > 1 ? Math.round(ratio * MILLION) : 0;
}
