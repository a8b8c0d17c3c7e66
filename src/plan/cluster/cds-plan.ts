import type { envoy_config_cluster_v3_Cluster as Cluster } from '../../../build/messages.gen.js';
import type { ClusterPlan } from './cluster.js';
import type { Place } from '../message/place.js';
import type { Source } from '../sources.js';

/** Clusters of CDS. */
export interface CdsPlan {
  readonly source: Source;
  /** As the collection of them is called; absent: all that there are. */
  readonly collection?: string;
  /** Names that it cannot have. */
  readonly staticClusters: readonly string[];
  /** As a static cluster is compiled. Undefined after some errors. */
  readonly compile: (message: Cluster, place: Place) => ClusterPlan | undefined;
}
