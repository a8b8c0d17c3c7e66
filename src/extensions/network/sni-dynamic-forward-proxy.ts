// envoy.filters.network.sni_dynamic_forward_proxy: the host that a client names by TLS is looked up before
// TCP goes on to it.
import type { envoy_extensions_filters_network_sni_dynamic_forward_proxy_v3_FilterConfig as Message } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { NetworkFilterPlan } from '../../plan/extension-plans.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<Message>(
  'envoy.extensions.filters.network.sni_dynamic_forward_proxy.v3.FilterConfig',
  ['dns_cache_config', 'port_value'],
);

const DEFAULT_PORT = 443;

export const sniDynamicForwardProxy = defineExtension<Message, NetworkFilterPlan>({
  name: 'envoy.filters.network.sni_dynamic_forward_proxy',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const at = place.field('dns_cache_config');
    const cache = context.names.add(config.dns_cache_config ?? {}, at) ?? '';
    return { server_name_lookup: { cache, port: config.port_value || DEFAULT_PORT } };
  },
});
