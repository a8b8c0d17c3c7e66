// What clients of one cluster share: connections to its hosts, as long as it is the same.
import type { ClusterLookup, EnvoyGrpcPlan } from '../plan/service-plan.js';
import { ClusterPool } from './cluster-pool.js';
import { ClusterStats, type ClusterNative, type StatsHost } from './cluster-stats.js';

export class SharedPool {
  readonly #name: string;
  readonly #clusters: ClusterLookup;
  readonly #native: ClusterNative;
  readonly #host: StatsHost;
  readonly #stopWatching: () => void;
  #stats: ClusterStats | undefined;
  #pool: ClusterPool | undefined;

  constructor(
    { clusterName, clusters }: Pick<EnvoyGrpcPlan, 'clusterName' | 'clusters'>,
    native: ClusterNative,
    stats: StatsHost,
  ) {
    this.#name = clusterName;
    this.#clusters = clusters;
    this.#native = native;
    this.#host = stats;
    this.#stopWatching = clusters.watch(clusterName, () => this.#leave());
  }

  /** Undefined: there is no such cluster. */
  get current(): ClusterPool | undefined {
    return (this.#pool ??= this.#make());
  }

  close(): void {
    this.#stopWatching();
    this.#pool?.close();
  }

  #make(): ClusterPool | undefined {
    const plan = this.#clusters.get(this.#name);
    // One that has come, and is not in its place yet, is nobody's.
    if (!plan || this.#native.clusterPrefix(this.#name) === undefined) return undefined;
    this.#stats = new ClusterStats(this.#name, this.#native, this.#host, this.#stats);
    return new ClusterPool(plan, this.#stats);
  }

  #leave(): void {
    const pool = this.#pool;
    this.#pool = undefined;
    // Before anything is given back: the cluster of that name is the next one.
    this.#stats?.end();
    pool?.abandon();
  }
}
