// The connections to the hosts of a cluster: one for each, opened when its turn first comes.
import { ClusterStats, type ClusterNative, type StatsHost } from './cluster-stats.js';
import { Connection } from './connection.js';
import type { GrpcClusterPlan } from './service-plan.js';

export class ClusterPool {
  readonly cluster: GrpcClusterPlan;
  readonly stats: ClusterStats;
  readonly #connections = new Map<string, Connection>();

  constructor(cluster: GrpcClusterPlan, native: ClusterNative, stats: StatsHost) {
    this.cluster = cluster;
    this.stats = new ClusterStats(cluster.name, cluster.statName, native, stats);
  }

  /** To the host whose turn it is; undefined: there is none that may be used. */
  choose(): Connection | undefined {
    const host = this.stats.chooseHost();
    if (!host) return undefined;
    const key = `${host.address} ${host.port}`;
    const known = this.#connections.get(key);
    if (known?.isUsable) return known;
    const connection = new Connection(this.cluster, host, this.stats, () => {
      if (this.#connections.get(key) === connection) this.#connections.delete(key);
      this.#all.delete(connection);
    });
    this.#connections.set(key, connection);
    this.#all.add(connection);
    return connection;
  }

  /** Those that drain among them. */
  readonly #all = new Set<Connection>();

  close(): void {
    for (const connection of [...this.#all]) connection.close();
  }
}
