// Clusters that no configuration has, as those who need one see them.
import type { envoy_config_cluster_v3_Cluster as ClusterMessage } from '../../build/messages.gen.js';
import type { Place } from './message/place.js';

export interface HiddenClusters {
  /** The name by which the plan knows it; the message has none. */
  add(message: ClusterMessage, place: Place): string;
}
