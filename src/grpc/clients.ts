// The clients of gRPC services. Those of one cluster share its connections.
import type { GrpcClient } from './client.js';
import { ClusterClient } from './cluster-client.js';
import type { ClusterNative, StatsHost } from './cluster-stats.js';
import { SharedPool } from './shared-pool.js';
import type { EnvoyGrpcPlan, GrpcServicePlan } from '../plan/service-plan.js';

interface Shared {
  readonly pool: SharedPool;
  users: number;
}

export class GrpcClients {
  readonly #native: ClusterNative;
  readonly #stats: StatsHost;
  readonly #keepsIdle: boolean;
  /** By the cluster's name. */
  readonly #pools = new Map<string, Shared>();

  /** `keepsIdle`: connections stay when the last client of their cluster has gone, until close(). */
  constructor(native: ClusterNative, stats: StatsHost, keepsIdle = false) {
    this.#native = native;
    this.#stats = stats;
    this.#keepsIdle = keepsIdle;
  }

  /**
   * The library is loaded only where it is used. `owner`: how the statistics begin, with a dot, of what
   * has the client for itself: its statistics are among them, and go with it; empty: they stay.
   */
  async make(service: GrpcServicePlan, owner = ''): Promise<GrpcClient> {
    if (service.kind === 'envoy') return this.#makeClusterClient(service);
    const { GoogleClient } = await import('./google-client.js');
    const prefix = this.#native.addGoogleGrpcStats(service.statPrefix, owner);
    return new GoogleClient(service, prefix, this.#stats, () => {
      if (owner !== '') this.#native.removeStats(prefix);
    });
  }

  #makeClusterClient(service: EnvoyGrpcPlan): GrpcClient {
    const { clusterName } = service;
    const shared = this.#pools.get(clusterName) ?? {
      pool: new SharedPool(service, this.#native, this.#stats),
      users: 0,
    };
    this.#pools.set(clusterName, shared);
    shared.users++;
    return new ClusterClient(service, shared.pool, () => {
      if (--shared.users > 0 || this.#keepsIdle) return;
      this.#pools.delete(clusterName);
      shared.pool.close();
    });
  }

  /** Nobody has a client any more. */
  close(): void {
    for (const { pool } of this.#pools.values()) pool.close();
    this.#pools.clear();
  }
}
