// The clients of gRPC services. Those of one cluster share its connections.
import type { GrpcClient } from './client.js';
import { ClusterClient } from './cluster-client.js';
import { ClusterPool } from './cluster-pool.js';
import type { ClusterNative, StatsHost } from './cluster-stats.js';
import type { EnvoyGrpcPlan, GrpcServicePlan } from '../plan/service-plan.js';

interface SharedPool {
  readonly pool: ClusterPool;
  users: number;
}

export class GrpcClients {
  readonly #native: ClusterNative;
  readonly #stats: StatsHost;
  /** By the cluster's name. */
  readonly #pools = new Map<string, SharedPool>();

  constructor(native: ClusterNative, stats: StatsHost) {
    this.#native = native;
    this.#stats = stats;
  }

  /** The library is loaded only where it is used. */
  async make(service: GrpcServicePlan): Promise<GrpcClient> {
    if (service.kind === 'envoy') return this.#makeClusterClient(service);
    const { GoogleClient } = await import('./google-client.js');
    const prefix = this.#native.addGoogleGrpcStats(service.statPrefix);
    return new GoogleClient(service, prefix, this.#stats);
  }

  #makeClusterClient(service: EnvoyGrpcPlan): GrpcClient {
    const { cluster } = service;
    const shared = this.#pools.get(cluster.name) ?? {
      pool: new ClusterPool(cluster, this.#native, this.#stats),
      users: 0,
    };
    this.#pools.set(cluster.name, shared);
    shared.users++;
    return new ClusterClient(service, shared.pool, () => {
      if (--shared.users > 0) return;
      this.#pools.delete(cluster.name);
      shared.pool.close();
    });
  }
}
