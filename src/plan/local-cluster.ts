import type { envoy_config_core_v3_Locality as Locality } from '../../build/messages.gen.js';

/** The cluster that this proxy is one of, and where it is. */
export interface LocalCluster {
  readonly name: string;
  readonly locality: Locality;
}
