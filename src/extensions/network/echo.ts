// envoy.filters.network.echo: sends back what it gets.
import type { envoy_extensions_filters_network_echo_v3_Echo as Echo } from '../../../build/messages.gen.js';
import type { NetworkFilterPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';

export const echo = defineExtension<Echo, NetworkFilterPlan>({
  name: 'envoy.filters.network.echo',
  type: 'envoy.extensions.filters.network.echo.v3.Echo',
  compile: () => ({ echo: {} }),
});
