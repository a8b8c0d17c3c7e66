// Clusters that no configuration has: of services that are reached as if by a library of their own
// (google_grpc). No page shows them, and they stay as long as the server.
import type { envoy_config_cluster_v3_Cluster as ClusterMessage } from '../../../build/messages.gen.js';
import type { HiddenClusters } from '../hidden-clusters.js';
import type { Place } from '../message/place.js';
import type { ClusterPlan } from './cluster.js';

/** No configuration can name such a cluster. */
const PREFIX = '\u0000google_grpc ';

export class HiddenClusterPlans implements HiddenClusters {
  readonly #compile: (message: ClusterMessage, place: Place) => ClusterPlan | undefined;
  /** By what they are. */
  readonly #names = new Map<string, string>();
  readonly #plans: ClusterPlan[] = [];
  #onNew: ((plan: ClusterPlan) => void) | undefined;

  constructor(compile: (message: ClusterMessage, place: Place) => ClusterPlan | undefined) {
    this.#compile = compile;
  }

  get plans(): readonly ClusterPlan[] {
    return this.#plans;
  }

  /** Those that come later. */
  follow(onNew: (plan: ClusterPlan) => void): void {
    this.#onNew = onNew;
  }

  /** The name by which the plan knows it. */
  add(message: ClusterMessage, place: Place): string {
    const text = JSON.stringify(message);
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const name = `${PREFIX}${this.#names.size}`;
    this.#names.set(text, name);
    const plan = this.#compile({ ...message, name }, place);
    if (!plan) return name;
    const { observability_name: _, ...cluster } = plan.cluster;
    const hidden = { ...plan, cluster: { ...cluster, is_hidden: true, is_resolved: false } };
    this.#plans.push(hidden);
    this.#onNew?.(hidden);
    return name;
  }
}
