// What requests wait for, as the filter on_demand has them: virtual hosts, routes and clusters that are
// asked for when the first request wants them.
import type { envoy_config_cluster_v3_Cluster as Cluster } from '../../build/messages.gen.js';
import { guarded, unawaited } from '../base/bugs.js';
import type { NativeProxy, RequestDemand } from '../native.js';
import type { CdsPlan } from '../plan/cluster/cds-plan.js';
import type { ClusterPlan } from '../plan/cluster/cluster.js';
import type { ClusterSources } from '../plan/cluster-sources.js';
import { releaseSecrets } from '../plan/live-sources.js';
import { Demand_Kind, encodeUpdate, type Demand } from '../plan/plan.gen.js';
import { CDS } from './api.js';
import { awaiting, type DynamicCluster, type HostSources } from './clusters.js';
import { refusedBy } from './refused-by.js';
import { Subscription, type Subscribing } from './subscription.js';
import type { Commit, Resource } from './updates.js';

export interface DemandHost {
  readonly hosts: HostSources;
  /** Whether it can be asked for: who waits is told later. */
  askForHost(name: string): boolean;
  askForRoutes(table: string, onDone: () => void): boolean;
  isStatic(cluster: string): boolean;
  /** Resolves when the hosts of the cluster have come, or are not waited for. */
  warmed(cluster: string): Promise<void>;
}

export class Demands {
  readonly #native: NativeProxy;
  readonly #host: DemandHost;
  readonly #clusters: ClustersOnDemand;

  constructor(
    parts: { readonly sources: ClusterSources; readonly compile: CdsPlan['compile'] },
    native: NativeProxy,
    subscribing: Subscribing,
    host: DemandHost,
  ) {
    this.#native = native;
    this.#host = host;
    this.#clusters = new ClustersOnDemand(parts, native, subscribing, host, (demand) =>
      this.#met(demand),
    );
    native.onDemands((demands) => {
      // What is wrong with one is not to lose the others.
      for (const demand of demands) guarded('what a request waits for', () => this.#take(demand))();
    });
  }

  /** Clusters that have come so. */
  get clusters(): Iterable<DynamicCluster> {
    return this.#clusters.current;
  }

  stop(): void {
    this.#clusters.stop();
  }

  #take(demand: RequestDemand): void {
    const { kind, name } = demand;
    if (kind === Demand_Kind.VIRTUAL_HOST && this.#host.askForHost(name)) return;
    const done = (): void => this.#met({ ...demand, kind: kind as Demand_Kind });
    if (kind === Demand_Kind.ROUTE_TABLE && this.#host.askForRoutes(name, done)) return;
    if (kind === Demand_Kind.CLUSTER && this.#clusters.ask(demand)) return;
    done();
  }

  #met(demand: Demand): void {
    this.#native.apply(encodeUpdate({ met_demands: [demand] }));
  }
}

class ClustersOnDemand {
  readonly #sources: ClusterSources;
  readonly #compile: CdsPlan['compile'];
  readonly #native: NativeProxy;
  readonly #subscribing: Subscribing;
  readonly #host: DemandHost;
  readonly #onMet: (demand: Demand) => void;
  readonly #current = new Map<string, DynamicCluster>();
  readonly #subscriptions = new Map<number, Subscription>();
  /** By source: made of an update that has not been taken. */
  readonly #unused = new Map<number, readonly ClusterPlan[]>();
  #statPrefix: string | undefined;

  constructor(
    parts: { readonly sources: ClusterSources; readonly compile: CdsPlan['compile'] },
    native: NativeProxy,
    subscribing: Subscribing,
    host: DemandHost,
    onMet: (demand: Demand) => void,
  ) {
    this.#sources = parts.sources;
    this.#compile = parts.compile;
    this.#native = native;
    this.#subscribing = subscribing;
    this.#host = host;
    this.#onMet = onMet;
    // As the real server: those of ADS are there once somebody is asked.
    if (parts.sources.haveOthersThanAds) this.#statPrefix = native.addOdcdsStats();
  }

  get current(): Iterable<DynamicCluster> {
    return this.#current.values();
  }

  /** False: nobody can be asked, or it is there. */
  ask({ source: number, name }: RequestDemand): boolean {
    if (this.#current.has(name) || this.#host.isStatic(name)) {
      if (!this.#host.hosts.isWarming(name)) return false;
      this.#tellOnceThere(number, name);
      return true;
    }
    const known = this.#subscriptions.get(number);
    const collected = this.#sources.find(number);
    if (!collected) return false;
    const { source, collection } = collected;
    // Beside what there is in a collection, which is asked for with the first of all names.
    if (collection === undefined ? known?.want(name) : known?.ask(name)) return true;
    known?.stop();
    const one = new Subscription(
      {
        ...{ source, statPrefix: (this.#statPrefix ??= this.#native.addOdcdsStats()) },
        ...{ api: CDS, names: [collection ?? name], target: 'ODCDS' },
        isCollection: collection !== undefined,
        judge: (resources, version) => this.#judge(number, resources, version),
        onRejected: () => this.#drop(number),
        onAnswered: (names, removed) => {
          this.#remove(removed);
          this.#answered(number, names);
        },
      },
      this.#subscribing,
    );
    this.#subscriptions.set(number, one);
    one.start(() => undefined, false);
    return true;
  }

  stop(): void {
    for (const one of this.#subscriptions.values()) one.stop();
  }

  /** Those of them that have come are told of once they have their hosts. */
  #answered(source: number, names: readonly string[]): void {
    for (const name of names) {
      if (this.#current.has(name)) continue;
      this.#onMet({ kind: Demand_Kind.CLUSTER, source, name });
    }
  }

  /** Those of them that are there. */
  #remove(names: readonly string[]): void {
    const gone = names.filter((name) => this.#current.has(name));
    if (gone.length === 0) return;
    this.#native.apply(encodeUpdate({ removed_clusters: gone }));
    for (const name of gone) {
      this.#host.hosts.forget(name);
      this.#current.delete(name);
    }
  }

  #judge(source: number, resources: readonly Resource[], version: string): string | Commit {
    const isOfCds = ({ name = '' }: Cluster): boolean =>
      !this.#current.has(name) && this.#host.isStatic(name);
    const messages = resources.map(({ message }) => message as Cluster);
    // Such as have come by CDS as well, on the same stream.
    const there = messages.filter(isOfCds).map(({ name = '' }) => name);
    const plans = resources.flatMap(({ message, place, version: own }) => {
      const cluster = message as Cluster;
      const known = this.#current.get(cluster.name ?? '');
      if (isOfCds(cluster)) return [];
      if (known && JSON.stringify(known.message) === JSON.stringify(cluster)) return [];
      const plan = this.#compile(cluster, place);
      return plan ? { plan, message: cluster, version: own || version } : [];
    });
    const made = plans.map(({ plan }) => plan);
    this.#unused.set(source, made);
    return () => {
      const errors = this.#native.apply(
        encodeUpdate({
          clusters: plans.map(({ plan }) => awaiting(plan, this.#host.hosts)),
          assignments: plans.flatMap(
            ({ plan }) => plan.assignment ?? this.#host.hosts.hostsOf(plan) ?? [],
          ),
        }),
      );
      const isRefused = refusedBy(errors, 'cluster');
      const unused = plans.filter(({ message }) => isRefused(message.name ?? ''));
      this.#unused.set(
        source,
        unused.map(({ plan }) => plan),
      );
      this.#drop(source);
      for (const { plan, ...cluster } of plans) {
        const name = cluster.message.name ?? '';
        if (isRefused(name)) continue;
        this.#current.set(name, { ...cluster, updatedMs: Date.now() });
        this.#host.hosts.expect(plan);
        this.#host.hosts.follow(plan);
        this.#tellOnceThere(source, name);
      }
      for (const name of there) this.#tellOnceThere(source, name);
      return errors.length > 0 ? errors.map(({ message }) => message).join('\n') : undefined;
    };
  }

  #drop(source: number): void {
    for (const { secrets = [] } of this.#unused.get(source) ?? []) releaseSecrets(secrets);
    this.#unused.delete(source);
  }

  /** Whoever waits goes by what workers have. */
  #tellOnceThere(source: number, name: string): void {
    const told = this.#host
      .warmed(name)
      .then(() => this.#onMet({ kind: Demand_Kind.CLUSTER, source, name }));
    unawaited('a cluster on demand', told);
  }
}
