// Clusters that come by CDS: each update names all of them.
import type { envoy_config_cluster_v3_Cluster as Cluster } from '../../build/messages.gen.js';
import type { NativeProxy } from '../native.js';
import type { ClusterPlan } from '../plan/cluster/cluster.js';
import { encodeUpdate } from '../plan/plan.gen.js';
import type { CdsPlan } from '../plan/cluster/cds-plan.js';
import { Subscription, type Commit, type Resource, type SubscriptionHost } from './subscription.js';

const TYPE = 'envoy.config.cluster.v3.Cluster';

export interface DynamicCluster {
  readonly version: string;
  readonly message: Cluster;
  /** Milliseconds since 1970. */
  readonly updatedMs: number;
}

/** Where clusters get their hosts, if not from their own message. */
export interface HostSources {
  /** The cluster is there: from here on it is given hosts. */
  follow(plan: ClusterPlan): void;
  forget(cluster: string): void;
}

export class ClusterSubscription {
  readonly #plan: CdsPlan;
  readonly #native: NativeProxy;
  readonly #host: SubscriptionHost;
  readonly #sources: HostSources;
  readonly #statPrefix: string;
  readonly #subscription: Subscription;
  readonly #current = new Map<string, DynamicCluster>();
  #version = '';

  constructor(plan: CdsPlan, native: NativeProxy, host: SubscriptionHost, sources: HostSources) {
    this.#plan = plan;
    this.#native = native;
    this.#host = host;
    this.#sources = sources;
    this.#statPrefix = native.addCdsStats();
    this.#subscription = new Subscription(
      {
        source: plan.source,
        statPrefix: this.#statPrefix,
        type: TYPE,
        judge: (resources, version) => this.#judge(resources, version),
      },
      host,
    );
  }

  /** Of the latest update; '' before the first. */
  get version(): string {
    return this.#version;
  }

  get current(): Iterable<DynamicCluster> {
    return this.#current.values();
  }

  start(): void {
    this.#subscription.start();
  }

  stop(): void {
    this.#subscription.stop();
  }

  #judge(resources: readonly Resource[], version: string): string | Commit {
    const wanted = new Map<string, Resource>();
    for (const resource of resources) {
      const { name = '' } = resource.message as Cluster;
      const known = wanted.get(name);
      if (known) {
        resource.place.field('name').error(`duplicate cluster ${name} found`, {
          related: known.place.field('name'),
        });
      }
      wanted.set(name, resource);
    }
    // A static cluster stays as it is, whatever comes of its name.
    for (const name of this.#plan.staticClusters) wanted.delete(name);
    const changed = [...wanted.values()].filter(({ message }) => !this.#has(message as Cluster));
    const plans = changed.flatMap(({ message, place }) => {
      const plan = this.#plan.compile(message as Cluster, place);
      return plan ? { plan, message: message as Cluster } : [];
    });
    const gone = [...this.#current.keys()].filter((name) => !wanted.has(name));
    return () => this.#apply(plans, gone, version);
  }

  #has(message: Cluster): boolean {
    const known = this.#current.get(message.name ?? '');
    return known !== undefined && JSON.stringify(known.message) === JSON.stringify(message);
  }

  #apply(
    changed: readonly { readonly plan: ClusterPlan; readonly message: Cluster }[],
    gone: readonly string[],
    version: string,
  ): string | undefined {
    this.#host.log(
      'info',
      `cds: add ${changed.length} cluster(s), remove ${gone.length} cluster(s)`,
    );
    const errors = this.#native.apply(
      encodeUpdate({
        clusters: changed.map(({ plan }) => ({ ...plan.cluster, added_via_api: true })),
        assignments: changed.flatMap(({ plan }) => plan.assignment ?? []),
        removed_clusters: gone,
      }),
    );
    if (errors.length > 0) return errors.map((error) => error.message).join('\n');
    const updatedMs = Date.now();
    for (const name of gone) {
      this.#sources.forget(name);
      this.#current.delete(name);
    }
    for (const { plan, message } of changed) {
      const name = message.name ?? '';
      this.#current.set(name, { version, message, updatedMs });
      this.#sources.forget(name);
      this.#sources.follow(plan);
    }
    this.#version = version;
    if (changed.length > 0 || gone.length > 0) {
      this.#host.stats.count(`${this.#statPrefix}config_reload`);
      this.#host.stats.setGauge(`${this.#statPrefix}config_reload_time_ms`, updatedMs);
    }
    return undefined;
  }
}
