// The connections to the hosts of a cluster: one for each, opened when its turn first comes.
import type { ControlHost } from '../native.js';
import type { ClusterStats } from './cluster-stats.js';
import { Connection } from './connection.js';
import type { GrpcClusterPlan } from '../plan/service-plan.js';

/** Who is on one of the connections, or is to be. */
export interface PoolUser {
  /** There will be none any more. */
  onAbandoned(): void;
}

export class ClusterPool {
  readonly cluster: GrpcClusterPlan;
  readonly stats: ClusterStats;
  readonly users = new Set<PoolUser>();
  /** By host: those that take new streams. */
  readonly #connections = new Map<string, Connection>();
  /** Those that drain among them. */
  readonly #all = new Set<Connection>();

  constructor(cluster: GrpcClusterPlan, stats: ClusterStats) {
    this.cluster = cluster;
    this.stats = stats;
  }

  /** One that takes streams, now or soon. */
  find(host: ControlHost): Connection | undefined {
    const known = this.#connections.get(keyOf(host));
    return known?.isUsable ? known : undefined;
  }

  open(host: ControlHost): Connection {
    const key = keyOf(host);
    const connection = new Connection(this.cluster, host, this.stats, () => {
      if (this.#connections.get(key) === connection) this.#connections.delete(key);
      this.#all.delete(connection);
    });
    this.#connections.set(key, connection);
    this.#all.add(connection);
    return connection;
  }

  /** The cluster is another from here on, or has gone. */
  abandon(): void {
    for (const user of [...this.users]) user.onAbandoned();
    this.close();
  }

  close(): void {
    for (const connection of [...this.#all]) connection.close();
  }
}

const keyOf = ({ address, port }: ControlHost): string => `${address} ${port}`;
