// envoy.filters.network.sni_cluster: the cluster is the one that the client names by TLS.
import type { envoy_extensions_filters_network_sni_cluster_v3_SniCluster as SniCluster } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { NetworkFilterPlan } from '../../plan/extension-plans.js';

export const sniCluster = defineExtension<SniCluster, NetworkFilterPlan>({
  name: 'envoy.filters.network.sni_cluster',
  type: 'envoy.extensions.filters.network.sni_cluster.v3.SniCluster',
  compile: () => ({ cluster_of_server_name: true }),
});
