// Clusters as connections of the control plane see them, by name. One that comes by a control plane may be
// another from one moment to the next, or gone: who has connections to its hosts is told. Until it is in its
// place, the former of its name is asked.
import type { ClusterLookup, GrpcClusterPlan } from './service-plan.js';

export class ControlClusters implements ClusterLookup {
  readonly #plans = new Map<string, GrpcClusterPlan>();
  /** Of clusters that wait for their hosts, secrets or checks. */
  readonly #coming = new Map<string, GrpcClusterPlan>();
  readonly #watchers = new Map<string, Set<() => void>>();

  get(name: string): GrpcClusterPlan | undefined {
    return this.#plans.get(name);
  }

  /** Whether it is there, or is to be. */
  has(name: string): boolean {
    return this.known(name) !== undefined;
  }

  /** As whoever names it now will have it: the one that is to come, if there is one. */
  known(name: string): GrpcClusterPlan | undefined {
    return this.#coming.get(name) ?? this.#plans.get(name);
  }

  /** Of the bootstrap. */
  set(name: string, plan: GrpcClusterPlan): void {
    this.#plans.set(name, plan);
  }

  /** Of one that has been taken: it is asked once it is in its place. */
  expect(name: string, plan: GrpcClusterPlan): void {
    this.#coming.set(name, plan);
  }

  /** The one that was expected is in its place. */
  replaced(name: string): void {
    const plan = this.#coming.get(name);
    if (!plan) return;
    this.#coming.delete(name);
    this.#plans.set(name, plan);
    this.#tell(name);
  }

  delete(name: string): void {
    this.#coming.delete(name);
    if (this.#plans.delete(name)) this.#tell(name);
  }

  watch(name: string, onChange: () => void): () => void {
    const all = this.#watchers.get(name) ?? new Set();
    this.#watchers.set(name, all.add(onChange));
    return () => {
      all.delete(onChange);
      if (all.size === 0 && this.#watchers.get(name) === all) this.#watchers.delete(name);
    };
  }

  #tell(name: string): void {
    for (const onChange of [...(this.#watchers.get(name) ?? [])]) onChange();
  }
}
