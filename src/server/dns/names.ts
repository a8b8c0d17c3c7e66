// Looks up the names that requests ask for: hosts of dynamic forward proxies, which share caches, and
// clusters that are made of names. What becomes of a name goes to the workers together with its host.
import { guarded, unawaited } from '../../base/bugs.js';
import { startImmediate } from '../../base/timers.js';
import type { NativeProxy } from '../../native.js';
import type { HostNamesPlan, NamedClusterPlan } from '../../plan/cluster/cluster-plan.js';
import type { NamePlans } from '../../plan/cluster/names.js';
import { encodeUpdate, type Assignment, type NameAnswer } from '../../plan/plan.gen.js';
import type { ControlStats } from '../../stats/control-stats.js';
import { NamedClusters, type NamedClustersHost } from './named-clusters.js';
import { HostNames, type NameHooks } from './host-names.js';
import { NameResolver, resolverOf, type DnsQuestions } from './name-resolver.js';

export interface NamesHost extends NamedClustersHost {
  readonly native: NativeProxy;
  readonly stats: ControlStats;
  readonly questions: DnsQuestions;
  log(level: 'debug' | 'error', message: string): void;
}

export class Names {
  readonly #host: NamesHost;
  readonly #resolver = new NameResolver();
  /** By cache. */
  readonly #hosts = new Map<string, HostNames>();
  /** By cluster. */
  readonly #clusters = new Map<string, NamedClusters>();
  /** Clusters of each cache. */
  readonly #users = new Map<string, Set<string>>();
  /** What goes to the workers next. */
  readonly #changed = new Set<string>();
  #answers: NameAnswer[] = [];
  #isDue = false;
  #isStopped = false;

  /** `plans`: all caches that there are, and those that come later. */
  constructor(plans: NamePlans, host: NamesHost) {
    this.#host = host;
    for (const plan of plans.hosts) this.#addCache(plan);
    plans.follow((plan) => {
      host.native.apply(encodeUpdate({ name_caches: [plan.cache] }));
      unawaited('names that are known before', this.#addCache(plan).start());
    });
    host.native.onName(guarded('a name to look up', (cache, name) => this.#look(cache, name)));
  }

  /** Resolves when all that is to be known before any request has been answered. */
  async start(): Promise<void> {
    await Promise.all([...this.#hosts.values()].map((one) => one.start()));
    this.#flush();
  }

  stop(): void {
    this.#isStopped = true;
    for (const one of this.#hosts.values()) one.stop();
    for (const one of this.#clusters.values()) one.stop();
    this.#resolver.cancel();
  }

  /** A cluster has come, or is another now. */
  follow(plan: NamedClusterPlan): void {
    this.forget(plan.cluster);
    if (plan.kind === 'clusters') {
      const clusters = new NamedClusters(plan.clusters, this.#host, this.#hooks());
      this.#clusters.set(plan.cluster, clusters);
      clusters.start();
      return;
    }
    const users = this.#users.get(plan.cache) ?? new Set();
    this.#users.set(plan.cache, users.add(plan.cluster));
    this.#changed.add(plan.cache);
    this.#flush();
  }

  forget(cluster: string): void {
    for (const users of this.#users.values()) users.delete(cluster);
    this.#clusters.get(cluster)?.stop();
    this.#clusters.delete(cluster);
  }

  #addCache(plan: HostNamesPlan): HostNames {
    const { native, stats, questions } = this.#host;
    const resolver = plan.resolver ? resolverOf(plan.resolver) : this.#resolver;
    const names = new HostNames(plan, {
      ...this.#hooks(),
      lookup: (name) => resolver.lookup(name, plan.lookup, questions),
      count: (stat) => stats.count(`${plan.cache.stat_prefix}${stat}`),
      setGauge: (stat, value) => stats.setGauge(`${plan.cache.stat_prefix}${stat}`, value),
      ageMs: (name) => native.nameAge(plan.cache.name ?? '', name),
    });
    this.#hosts.set(plan.cache.name ?? '', names);
    return names;
  }

  #hooks(): NameHooks {
    return {
      onAnswer: (answer) => {
        this.#answers.push(answer);
        if (this.#hosts.has(answer.cache ?? '')) this.#changed.add(answer.cache ?? '');
        this.#soon();
      },
    };
  }

  #look(cache: string, name: string): void {
    if (this.#isStopped) return;
    const hosts = this.#hosts.get(cache);
    if (hosts) {
      unawaited('a name to look up', hosts.look(name));
      return;
    }
    for (const clusters of this.#clusters.values()) if (clusters.key === cache) clusters.look(name);
  }

  /** What comes in one turn goes together. */
  #soon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    startImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isDue = false;
    if (this.#isStopped || (this.#changed.size === 0 && this.#answers.length === 0)) return;
    const assignments = [...this.#changed].flatMap((cache) => this.#assignments(cache));
    this.#changed.clear();
    const answers = this.#answers;
    this.#answers = [];
    const update = encodeUpdate({ assignments, name_answers: answers });
    for (const error of this.#host.native.apply(update)) {
      this.#host.log('error', `names: ${error.message}`);
    }
  }

  #assignments(cache: string): Assignment[] {
    const hosts = this.#hosts.get(cache)?.hosts ?? [];
    return [...(this.#users.get(cache) ?? [])].map((cluster) => ({
      cluster_name: cluster,
      hosts: [...hosts],
      overprovisioning_factor_pct: 140,
    }));
  }
}
