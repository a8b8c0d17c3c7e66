// Which pools a cluster's connections come from: the generic ones, which are what there is anyway.
import type { envoy_config_core_v3_TypedExtensionConfig as TypedConfig } from '../../../build/messages.gen.js';
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
