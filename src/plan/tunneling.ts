// TCP through a tunnel: what is said to the proxy that hosts of the cluster are.
import type { envoy_extensions_filters_network_tcp_proxy_v3_TcpProxy_TunnelingConfig as TunnelingConfig } from '../../build/messages.gen.js';
import { compileFormat } from './format/format.js';
import type { Place } from './message/place.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';
import type { TunnelingConfig as TunnelingPlan } from './plan.gen.js';
import { compileHeaderMutations } from './route/header-mutations.js';

// Requests are sent over HTTP/1, which has no POST whose body is a stream in both directions; no
// filter state keeps what the answer says.
const FIELDS = supportedFields<TunnelingConfig>(
  'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.TunnelingConfig',
  ['hostname', 'headers_to_add'],
);

export function compileTunneling(
  config: TunnelingConfig | undefined,
  place: Place,
): TunnelingPlan | undefined {
  if (!config) return undefined;
  refuseOtherFields(place, config, FIELDS);
  const hostname = compileFormat(config.hostname ?? '', 'header');
  if ('error' in hostname) {
    place.field('hostname').error(hostname.error, hostname);
    return undefined;
  }
  return {
    hostname: hostname.format,
    headers: compileHeaderMutations({ request_headers_to_add: config.headers_to_add ?? [] }, place),
  };
}
