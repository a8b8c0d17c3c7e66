import type { envoy_config_cluster_v3_Cluster as Cluster } from '../../../build/messages.gen.js';
import type { ClusterPlan } from './cluster.js';
import type { Place } from '../message/place.js';
import type { FileSource } from '../config-source.js';

/** Clusters of CDS. */
export interface CdsPlan {
  readonly source: FileSource;
  /** Names that it cannot have. */
  readonly staticClusters: readonly string[];
  /** As a static cluster is compiled. Undefined after some errors. */
  readonly compile: (message: Cluster, place: Place) => ClusterPlan | undefined;
}
