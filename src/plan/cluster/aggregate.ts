// envoy.clusters.aggregate: a cluster whose requests go to the hosts of others, the first of them first.
import type {
  envoy_config_cluster_v3_Cluster as ClusterMessage,
  envoy_extensions_clusters_aggregate_v3_ClusterConfig as AggregateMessage,
} from '../../../build/messages.gen.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

export const AGGREGATE = 'envoy.extensions.clusters.aggregate.v3.ClusterConfig';
const FIELDS = supportedFields<AggregateMessage>(AGGREGATE, ['clusters']);

/** The names of its members, of which some may come later. Undefined after an error. */
export function compileAggregate(
  config: AggregateMessage,
  message: ClusterMessage,
  place: Place,
): readonly string[] | undefined {
  const at = place.field('cluster_type').field('typed_config').within(AGGREGATE);
  refuseOtherFields(at, config, FIELDS);
  if (!config.clusters?.length) {
    at.field('clusters').error('value must contain at least 1 item(s)', {
      expected: 'names of clusters',
    });
    return undefined;
  }
  return demandProvided(message, place) ? config.clusters : undefined;
}

const PROVIDED = 'envoy.extensions.load_balancing_policies.cluster_provided.v3.ClusterProvided';

/** load_balancing_policy says so. */
export function isProvidedByPolicy(message: ClusterMessage): boolean {
  const policies = message.load_balancing_policy?.policies ?? [];
  return policies.some((policy) => policy.typed_extension_config?.typed_config?.$type === PROVIDED);
}

/** The kind of cluster says where requests go. False: the configuration says otherwise. */
export function demandProvided(message: ClusterMessage, place: Place): boolean {
  if (message.lb_policy === 'CLUSTER_PROVIDED' && !message.load_balancing_policy) return true;
  if (isProvidedByPolicy(message)) return true;
  place
    .field('lb_policy')
    .error(
      `cluster manager: cluster provided LB not specified but cluster '${message.name ?? ''}' ` +
        'provided one. Check cluster documentation.',
      { expected: 'CLUSTER_PROVIDED' },
    );
  return false;
}
