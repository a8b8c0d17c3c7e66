// Clusters as connections of the control plane see them, by name. One that comes by a control plane may be
// another from one moment to the next, or gone: who has connections to its hosts is told.
import type { ClusterLookup, GrpcClusterPlan } from './service-plan.js';

export class ControlClusters implements ClusterLookup {
  readonly #plans = new Map<string, GrpcClusterPlan>();
  readonly #watchers = new Map<string, Set<() => void>>();

  get(name: string): GrpcClusterPlan | undefined {
    return this.#plans.get(name);
  }

  has(name: string): boolean {
    return this.#plans.has(name);
  }

  /** Whoever uses the one of that name goes on until replaced() tells of this one. */
  set(name: string, plan: GrpcClusterPlan): void {
    this.#plans.set(name, plan);
  }

  delete(name: string): void {
    this.#plans.delete(name);
  }

  /** The one that was set last is in its place, or the one that was there has gone. */
  replaced(name: string): void {
    for (const onChange of [...(this.#watchers.get(name) ?? [])]) onChange();
  }

  watch(name: string, onChange: () => void): () => void {
    const all = this.#watchers.get(name) ?? new Set();
    this.#watchers.set(name, all.add(onChange));
    return () => {
      all.delete(onChange);
      if (all.size === 0 && this.#watchers.get(name) === all) this.#watchers.delete(name);
    };
  }
}
