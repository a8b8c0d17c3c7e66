// Which pools a cluster's connections come from, and how requests wait in them: what there is anyway.
import type {
  envoy_config_cluster_v3_Cluster_QueuingPolicies as QueuingPolicies,
  envoy_config_core_v3_TypedExtensionConfig as TypedConfig,
} from '../../../build/messages.gen.js';
import type { Place } from '../message/place.js';

const GENERIC: readonly string[] = [
  'envoy.extensions.upstreams.http.generic.v3.GenericConnectionPoolProto',
  'envoy.extensions.upstreams.tcp.generic.v3.GenericConnectionPoolProto',
];

/** An error for what would be another pool. */
export function checkUpstreamPool(config: TypedConfig | undefined, place: Place): void {
  const type = config?.typed_config?.$type;
  if (!config || (type !== undefined && GENERIC.includes(type))) return;
  place.error(`the pool '${config.name ?? ''}' (${type ?? ''}) is not supported yet`, {
    expected: `one of ${GENERIC.join(', ')}`,
  });
}

const FIFO = 'envoy.extensions.queue_policy.fifo.v3.FifoQueuePolicyConfig';

/** An error for what would be another order than first in, first out. */
export function checkQueuingPolicies(policies: QueuingPolicies | undefined, place: Place): void {
  const config = policies?.pending_rq_policy;
  if (!config || config.typed_config?.$type === FIFO) return;
  place
    .field('pending_rq_policy')
    .error(
      `Didn't find a registered queue policy implementation for name: '${config.name ?? ''}'`,
      { expected: FIFO },
    );
}
