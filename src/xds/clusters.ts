// Clusters that come by CDS: all of them with each update, or what has changed of them.
import type { envoy_config_cluster_v3_Cluster as Cluster } from '../../build/messages.gen.js';
import { unawaited } from '../base/bugs.js';
import type { Issue } from '../config/issues/issue.js';
import type { NativeProxy } from '../native.js';
import type { ClusterPlan } from '../plan/cluster/cluster.js';
import { releaseSecrets } from '../plan/live-sources.js';
import { Place } from '../plan/message/place.js';
import { encodeUpdate, type Assignment, type Cluster as PlannedCluster } from '../plan/plan.gen.js';
import type { CdsPlan } from '../plan/cluster/cds-plan.js';
import { CDS, EDS, LEDS, SDS } from './api.js';
import { refusedBy } from './refused-by.js';
import { Slices } from './slices.js';
import { Subscription, type Subscribing } from './subscription.js';
import type { Commit, Resource } from './updates.js';

export interface DynamicCluster {
  readonly version: string;
  readonly message: Cluster;
  /** Milliseconds since 1970. */
  readonly updatedMs: number;
}

/** So many take a few milliseconds. */
const AT_ONCE = 100;

interface JudgedCluster {
  readonly plan: ClusterPlan;
  readonly message: Cluster;
  readonly version: string;
}

/** Where clusters get their hosts, if not from their own message. */
export interface HostSources {
  /** Its hosts are still to come, by the way that it has them from, or its secrets, or checks. */
  awaits(plan: ClusterPlan): boolean;
  /** The cluster is there, or is another now, and will be followed: from here on it waits if it has to. */
  expect(plan: ClusterPlan): void;
  /** The cluster is there, or is another now: from here on it is given hosts. */
  follow(plan: ClusterPlan): void;
  /** Those that it is given already, where they come from the same place on one stream with it. */
  hostsOf(plan: ClusterPlan): Assignment | undefined;
  forget(cluster: string): void;
  /** It waits for some of that. */
  isWarming(cluster: string): boolean;
}

/** Places of resources by names, of which the first counts, and what is said of others. */
function sortNames(
  resources: readonly Resource[],
  describe: (issue: Issue) => string,
): { readonly wanted: Map<string, number>; readonly refused: string[] } {
  const wanted = new Map<string, number>();
  const refused: string[] = [];
  resources.forEach(({ message }, index) => {
    const { name = '' } = message as Cluster;
    const known = wanted.get(name);
    if (known === undefined) {
      wanted.set(name, index);
      return;
    }
    const issues: Issue[] = [];
    const at = Place.root(issues).field('resources');
    at.index(index)
      .field('name')
      .error(`duplicate cluster ${name} found`, { related: at.index(known).field('name') });
    refused.push(`${name}: ${issues.map(describe).join('; ')}`);
  });
  return { wanted, refused };
}

type NewCluster = { -readonly [Name in keyof PlannedCluster]: PlannedCluster[Name] };

/**
 * The cluster for the data plane, where one that is in use goes on until this one has all it needs. That is
 * written to its plan: a copy of so many fields is an object of a shape of its own, with which V8 is slow.
 */
export function awaiting(plan: ClusterPlan, sources: HostSources): PlannedCluster {
  const cluster: NewCluster = plan.cluster;
  cluster.awaits_hosts = sources.awaits(plan);
  return cluster;
}

export class ClusterSubscription {
  readonly #plan: CdsPlan;
  readonly #native: NativeProxy;
  readonly #host: Subscribing;
  readonly #sources: HostSources;
  readonly #statPrefix: string;
  readonly #subscription: Subscription;
  readonly #current = new Map<string, DynamicCluster>();
  /** In whose place others have come that wait for their hosts. */
  readonly #replaced = new Map<string, DynamicCluster>();
  #version = '';
  /** Clusters that have come, and are not given hosts yet. */
  readonly #toFollow = new Map<string, ClusterPlan>();
  #isFollowing = false;
  #isStopped = false;

  constructor(plan: CdsPlan, native: NativeProxy, host: Subscribing, sources: HostSources) {
    this.#plan = plan;
    this.#native = native;
    this.#host = host;
    this.#sources = sources;
    this.#statPrefix = native.addCdsStats();
    this.#subscription = new Subscription(
      {
        source: plan.source,
        statPrefix: this.#statPrefix,
        api: CDS,
        names: plan.collection === undefined ? [] : [plan.collection],
        isCollection: plan.collection !== undefined,
        target: 'CDS',
        judgesEach: true,
        judge: (...update) => this.#judge(...update),
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

  /** While another waits in its place. */
  replaced(name: string): DynamicCluster | undefined {
    return this.#replaced.get(name);
  }

  /** The cluster of that name has its hosts. */
  onWarm(name: string): void {
    this.#replaced.delete(name);
  }

  start(): void {
    this.#subscription.start();
  }

  stop(): void {
    this.#isStopped = true;
    this.#toFollow.clear();
    this.#subscription.stop();
  }

  /** As the real server: each is taken or refused by itself. */
  async #judge(
    resources: readonly Resource[],
    version: string,
    describe: (issue: Issue) => string,
    removed: readonly string[] | undefined,
  ): Promise<string | Commit> {
    const { wanted, refused } = sortNames(resources, describe);
    const gone = this.#gone(wanted, removed);
    const fresh = [...wanted.keys()].filter((name) => !this.#current.has(name)).length;
    const size = this.#current.size - gone.length + fresh;
    if (size < this.#host.planes.minClusters(this.#plan.source)) {
      return 'CDS update attempts to reduce clusters below configured minimum.';
    }
    // A static cluster stays as it is, whatever comes of its name.
    for (const name of this.#plan.staticClusters) wanted.delete(name);
    const changed: JudgedCluster[] = [];
    const slices = new Slices();
    for (const [name, index] of wanted) {
      const { message = {}, version: own = '', faults = [], madeUses = 0 } = resources[index] ?? {};
      const cluster = message as Cluster;
      if (!this.#has(cluster)) {
        const issues: Issue[] = [...faults];
        const at = Place.root(issues).field('resources').index(index);
        const plan = faults.length > 0 ? undefined : this.#plan.compile(cluster, at);
        const errors = issues.filter(({ severity }) => severity === 'error');
        for (const one of issues) if (one.severity !== 'error') this.#warn(describe(one));
        this.#host.stats.countDeprecated(madeUses);
        if (errors.length > 0) {
          refused.push(`${name}: ${errors.map(describe).join('; ')}`);
          releaseSecrets(plan?.secrets ?? []);
          this.#countRefused(name);
        } else if (plan) changed.push({ plan, message: cluster, version: own || version });
      }
      const pause = slices.pause();
      if (pause) await pause;
    }
    return () => this.#apply(changed, gone, version, refused);
  }

  /** Of those that there are; `removed`: as Watcher's. */
  #gone(
    wanted: ReadonlyMap<string, unknown>,
    removed: readonly string[] | undefined,
  ): readonly string[] {
    if (removed) return removed.filter((name) => this.#current.has(name) && !wanted.has(name));
    return [...this.#current.keys()].filter((name) => !wanted.has(name));
  }

  /** As the real server, which counts it before it looks at it. */
  #countRefused(name: string): void {
    const what = this.#current.has(name) ? 'modified' : 'added';
    this.#host.stats.count(`cluster_manager.cluster_${what}`);
  }

  #warn(text: string): void {
    this.#host.log('warning', text);
  }

  #has(message: Cluster): boolean {
    const known = this.#current.get(message.name ?? '');
    // Of an incremental stream what has not changed is the same object.
    if (known?.message === message) return true;
    return known !== undefined && JSON.stringify(known.message) === JSON.stringify(message);
  }

  /** Those that are gone at once, others in slices: none of them needs another. */
  async #apply(
    changed: readonly JudgedCluster[],
    gone: readonly string[],
    version: string,
    refused: readonly string[],
  ): Promise<string | undefined> {
    if (this.#isStopped) return undefined;
    this.#host.log(
      'info',
      `cds: add ${changed.length} cluster(s), remove ${gone.length} cluster(s)`,
    );
    const updatedMs = Date.now();
    const errors: string[] = [...refused];
    const slices = new Slices();
    for (let first = 0; first === 0 || first < changed.length; first += AT_ONCE) {
      const some = changed.slice(first, first + AT_ONCE);
      errors.push(...this.#put(some, first === 0 ? gone : [], updatedMs));
      const pause = slices.pause();
      if (pause) await pause;
      if (this.#isStopped) return undefined;
    }
    // As in the real server, hosts are asked for before their clusters are answered for.
    const following = this.#followAll();
    unawaited('the hosts of clusters', following);
    await following.catch(() => undefined);
    if (this.#isStopped) return undefined;
    if (changed.length > 0 || gone.length > 0) this.#version = version;
    if (errors.length > 0) return `Error adding/updating cluster(s) ${errors.join('\n')}`;
    if (changed.length > 0) {
      this.#host.stats.count(`${this.#statPrefix}config_reload`);
      this.#host.stats.setGauge(`${this.#statPrefix}config_reload_time_ms`, updatedMs);
    }
    return undefined;
  }

  /** What the data plane refuses of them. */
  #put(
    changed: readonly JudgedCluster[],
    gone: readonly string[],
    updatedMs: number,
  ): readonly string[] {
    const errors = this.#native.apply(
      encodeUpdate({
        clusters: changed.map(({ plan }) => awaiting(plan, this.#sources)),
        assignments: changed.flatMap(
          ({ plan }) => plan.assignment ?? this.#sources.hostsOf(plan) ?? [],
        ),
        removed_clusters: gone,
        name_caches: changed.flatMap(({ plan: { names } }) =>
          names?.kind === 'clusters' ? names.clusters.cache : [],
        ),
      }),
    );
    for (const name of gone) {
      this.#sources.forget(name);
      this.#toFollow.delete(name);
      this.#current.delete(name);
      this.#replaced.delete(name);
    }
    const isRefused = refusedBy(errors, 'cluster');
    for (const { plan, message, version: own } of changed) {
      const name = message.name ?? '';
      if (isRefused(name)) {
        releaseSecrets(plan.secrets ?? []);
        continue;
      }
      const before = this.#current.get(name);
      // Where that one waits itself it was never in use, and what it has replaced stays.
      if (before && !this.#sources.isWarming(name)) this.#replaced.set(name, before);
      this.#current.set(name, { version: own, message, updatedMs });
      this.#sources.expect(plan);
      this.#toFollow.set(name, plan);
    }
    const wrong = new Map(errors.map(({ name, message }) => [name, message]));
    return [...wrong].map(([name, message]) => `${name}: ${message}`);
  }

  /** At once, and thousands of them in slices. */
  async #followAll(): Promise<void> {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    const leave = this.#host.targets.add('CDS');
    const slices = new Slices();
    this.#holdRequests(true);
    try {
      for (const [name, plan] of this.#toFollow) {
        this.#toFollow.delete(name);
        this.#sources.follow(plan);
        if (!this.#sources.isWarming(name)) this.onWarm(name);
        const pause = slices.pause();
        if (pause) await pause;
      }
    } finally {
      this.#isFollowing = false;
      this.#holdRequests(false);
      leave();
    }
  }

  /** What clusters need is asked for once for all of them. */
  #holdRequests(isHeld: boolean): void {
    for (const api of [EDS, LEDS, SDS]) this.#host.planes.hold(api, isHeld);
  }
}
