// HTTP to the hosts of a cluster, over connections that last. Whatever the control thread asks for by
// HTTP goes through one.
import { undici } from '../base/late-modules.js';
import { ClusterStats, type ClusterNative, type StatsHost } from '../grpc/cluster-stats.js';
import type { ControlHost } from '../native.js';
import type { ClusterLookup, GrpcClusterPlan } from '../plan/service-plan.js';
import { answered, PooledClient, type HttpAnswer, type HttpRequest } from './pooled-client.js';

/** Those that wait for an answer; others are lost at once. */
const MOST_REQUESTS = 1024;

export class HttpPool {
  readonly #name: string;
  readonly #clusters: ClusterLookup;
  readonly #stopWatching: () => void;
  readonly #native: ClusterNative;
  readonly #host: StatsHost;
  readonly #longestBytes: number;
  /** By host. */
  readonly #clients = new Map<string, Set<PooledClient>>();
  #asked = 0;
  #stats: ClusterStats | undefined;
  /** They are those of a cluster that is another by now, or gone. */
  #isLeft = false;

  constructor(
    name: string,
    clusters: ClusterLookup,
    counted: { readonly native: ClusterNative; readonly stats: StatsHost },
    /** An answer that is longer breaks off. */
    longestBytes: number,
  ) {
    this.#name = name;
    this.#longestBytes = longestBytes;
    this.#clusters = clusters;
    this.#stopWatching = clusters.watch(name, () => this.#leave());
    this.#native = counted.native;
    this.#host = counted.stats;
    // Loaded before the first request waits for it.
    undici();
  }

  get isThere(): boolean {
    if (!this.#clusters.get(this.#name)) return false;
    return this.#native.clusterPrefix(this.#name) !== undefined;
  }

  /** Undefined: the cluster is not there. */
  get stats(): ClusterStats | undefined {
    if (!this.isThere) return undefined;
    if (!this.#stats || this.#isLeft) {
      this.#stats = new ClusterStats(this.#name, this.#native, this.#host, this.#stats);
      this.#isLeft = false;
    }
    return this.#stats;
  }

  /** The answer of a host, or one in its place; undefined: it broke off. */
  async ask(request: HttpRequest): Promise<HttpAnswer | undefined> {
    const plan = this.#clusters.get(this.#name);
    const { stats } = this;
    if (!plan || !stats) return { status: 503, body: Buffer.alloc(0) };
    const host = stats.chooseHost();
    if (!host) return answered(stats, 503);
    if (this.#asked >= MOST_REQUESTS || !stats.tryTake('requests')) {
      stats.count('upstream_rq_pending_overflow');
      return answered(stats, 503);
    }
    this.#asked++;
    try {
      return await this.#clientOf(host, plan, stats).ask(request);
    } finally {
      this.#asked--;
      stats.giveBack('requests');
    }
  }

  close(): void {
    this.#stopWatching();
    this.#closeAll();
  }

  #closeAll(): void {
    for (const clients of [...this.#clients.values()]) {
      for (const client of [...clients]) client.close();
    }
  }

  #leave(): void {
    // Before anything is given back: the cluster of that name is the next one.
    this.#stats?.end();
    this.#isLeft = true;
    this.#closeAll();
    this.#clients.clear();
  }

  #clientOf(host: ControlHost, plan: GrpcClusterPlan, stats: ClusterStats): PooledClient {
    const key = `${host.address} ${host.port}`;
    const clients = this.#clients.get(key) ?? new Set();
    for (const client of clients) if (client.hasRoom) return client;
    const client = new PooledClient(host, plan, stats, this.#longestBytes, () => {
      clients.delete(client);
      if (clients.size === 0 && this.#clients.get(key) === clients) this.#clients.delete(key);
    });
    clients.add(client);
    this.#clients.set(key, clients);
    return client;
  }
}
