// The hosts of a cluster that come by EDS.
import type {
  envoy_config_endpoint_v3_ClusterLoadAssignment as ClusterLoadAssignment,
  envoy_config_endpoint_v3_LbEndpoint as LbEndpoint,
} from '../../build/messages.gen.js';
import { unawaited } from '../base/bugs.js';
import { startTimeout } from '../base/timers.js';
import type { NativeProxy } from '../native.js';
import type { LaterContext } from '../plan/compiled.js';
import { compileHosts } from '../plan/cluster/assignment.js';
import type { Assignment, Host } from '../plan/plan.gen.js';
import type { EdsPlan } from '../plan/cluster/eds-cluster.js';
import { Place } from '../plan/message/place.js';
import { EDS } from './api.js';
import type { AssignmentBatch } from './assignment-batch.js';
import { LocalityEndpoints, compileLeds, ledsKey, type LedsPlan } from './locality-endpoints.js';
import { Subscription, type Subscribing } from './subscription.js';
import type { Commit, Resource } from './updates.js';

/** Of the thousands whose localities have no endpoints that come by themselves. */
const NO_LOCALITIES: ReadonlyMap<string, LocalityEndpoints> = new Map();
const NO_LEDS: ReadonlyMap<number, LedsPlan> = new Map();

/** Where hosts go. */
export interface EndpointTargets {
  readonly native: NativeProxy;
  readonly assignments: AssignmentBatch;
}

export class EndpointSubscription {
  readonly #plan: EdsPlan;
  readonly #native: NativeProxy;
  readonly #assignments: AssignmentBatch;
  readonly #host: Subscribing;
  readonly #statPrefix: string;
  readonly #context: LaterContext;
  readonly #subscription: Subscription;
  /** As it came. */
  #message: ClusterLoadAssignment | undefined;
  /** Of localities whose endpoints come by themselves, by what they ask for. */
  #localities: ReadonlyMap<string, LocalityEndpoints> = NO_LOCALITIES;
  /** What they ask for, by the places of localities in the message. */
  #leds: ReadonlyMap<number, LedsPlan> = NO_LEDS;
  #ledsPrefix: string | undefined;
  /** With the endpoints of all localities. */
  #current: ClusterLoadAssignment | undefined;
  #onWarm: () => void = () => undefined;
  readonly #warmed = new Promise<void>((resolve) => {
    this.#onWarm = resolve;
  });
  #staleTimer: NodeJS.Timeout | undefined;
  /** Told before hosts are put in place. */
  onHosts: () => void = () => undefined;
  /** Its cluster waits for nothing. */
  isInUse = false;
  /** Another is to come in the place of its cluster, which is in use until then. */
  isFormer = false;

  constructor(
    plan: EdsPlan,
    { native, assignments }: EndpointTargets,
    context: LaterContext,
    host: Subscribing,
  ) {
    this.#plan = plan;
    this.#context = context;
    this.#native = native;
    this.#assignments = assignments;
    this.#host = host;
    this.#statPrefix = native.clusterPrefix(plan.cluster) ?? '';
    this.#subscription = new Subscription(
      {
        source: plan.source,
        statPrefix: this.#statPrefix,
        api: EDS,
        names: [plan.serviceName || plan.cluster],
        target: `Cluster ${plan.cluster}`,
        judge: (resources) => this.#judge(resources),
        onAbsent: () => host.stats.count(`${this.#statPrefix}update_empty`),
      },
      host,
    );
  }

  /** Resolves when its hosts have come, or are not waited for any longer. */
  get warmed(): Promise<void> {
    return this.#warmed;
  }

  /** Its hosts are waited for. */
  get isWarming(): boolean {
    return !this.#subscription.isFirstDone || this.#isLocalityWaitedFor;
  }

  /**
   * As the data plane has it; undefined before the first. Made anew: hardly anybody asks, and thousands of
   * them would be a large part of what a cluster takes.
   */
  get applied(): Assignment | undefined {
    return this.#current && this.#compile(this.#current, Place.root([]));
  }

  /** Whether that wants the same of the same stream. */
  asksFor({ source, serviceName, cluster }: EdsPlan): boolean {
    const isSameStream = source.kind === 'ads' && this.#plan.source.kind === 'ads';
    return isSameStream && (serviceName || cluster) === (this.serviceName || this.cluster);
  }

  /** Whether that is asked for in the same way. */
  isFor(plan: EdsPlan): boolean {
    return JSON.stringify(plan) === JSON.stringify(this.#plan);
  }

  get cluster(): string {
    return this.#plan.cluster;
  }

  /** '': it has none. */
  get serviceName(): string {
    return this.#plan.serviceName;
  }

  /** Undefined before the first. */
  get current(): ClusterLoadAssignment | undefined {
    return this.#current;
  }

  /** It is there before any control plane is asked. */
  get isOfFile(): boolean {
    return this.#plan.source.kind === 'file';
  }

  start(): void {
    this.#subscription.start(() => this.#tellWarm());
  }

  stop(): void {
    clearTimeout(this.#staleTimer);
    this.#subscription.stop();
    for (const one of this.#localities.values()) one.stop();
    this.#endLocalities();
    this.#onWarm();
  }

  get #isLocalityWaitedFor(): boolean {
    if (this.#localities.size === 0) return false;
    return [...this.#localities.values()].some(({ isFirstDone }) => !isFirstDone);
  }

  #tellWarm(): void {
    if (!this.isWarming) this.#onWarm();
  }

  #judge(resources: readonly Resource[]): string | Commit {
    const [first] = resources;
    const name = this.#plan.serviceName || this.#plan.cluster;
    if (!first) {
      this.#host.log('debug', `Missing ClusterLoadAssignment for ${name} in onConfigUpdate()`);
      return () => {
        this.#host.stats.count(`${this.#statPrefix}update_empty`);
        return undefined;
      };
    }
    if (resources.length > 1) return `Unexpected EDS resource length: ${resources.length}`;
    const message = first.message as unknown as ClusterLoadAssignment;
    if (message.cluster_name !== name) {
      return `Unexpected EDS cluster (expecting ${name}): ${message.cluster_name ?? ''}`;
    }
    const leds = this.#compileLocalities(message, first.place);
    const whole = withEndpoints(message, leds, (plan) => this.#endpointsOf(plan));
    const assignment = this.#compile(whole, first.place);
    return () => {
      this.#message = message;
      this.#followLocalities(leds);
      // Those that are new have no endpoints yet, or were told at once of what has come for others.
      if (this.#isLocalityWaitedFor) return undefined;
      if (leds.size > 0) return this.#applyLocalities(message);
      return this.#apply(whole, assignment);
    };
  }

  #endpointsOf(plan: LedsPlan): readonly LbEndpoint[] {
    return this.#localities.get(ledsKey(plan))?.endpoints ?? [];
  }

  #compile(message: ClusterLoadAssignment, place: Place): Assignment {
    const { all, policy } = compileHosts(message, place, this.#plan.needs);
    const priorities = (message.endpoints ?? []).map(({ priority = 0 }) => priority);
    return {
      ...{ cluster_name: this.#plan.cluster, hosts: withoutRepeats(all), ...policy },
      last_priority: Math.max(0, ...priorities),
    };
  }

  /** By the places of localities. */
  #compileLocalities(
    { endpoints = [] }: ClusterLoadAssignment,
    place: Place,
  ): ReadonlyMap<number, LedsPlan> {
    if (endpoints.every(({ leds_cluster_locality_config: config }) => !config)) return NO_LEDS;
    const plans = new Map<number, LedsPlan>();
    endpoints.forEach((locality, index) => {
      const { leds_cluster_locality_config: config, lb_endpoints: own = [] } = locality;
      if (!config) return;
      const at = place.field('endpoints').index(index);
      if (own.length > 0) {
        at.error(
          `A ClusterLoadAssignment for cluster ${this.#plan.serviceName || this.#plan.cluster} cannot include both LEDS ` +
            `(resource: ${config.leds_collection_name ?? ''}) and a list of endpoints.`,
        );
      }
      const plan = compileLeds(config, at.field('leds_cluster_locality_config'), this.#context);
      if (plan) plans.set(index, plan);
    });
    return plans;
  }

  /** Those that are asked for from here on. */
  #followLocalities(plans: ReadonlyMap<number, LedsPlan>): void {
    const before = this.#localities;
    this.#leds = plans;
    if (before.size === 0 && plans.size === 0) return;
    const next = new Map<string, LocalityEndpoints>();
    const fresh: LocalityEndpoints[] = [];
    for (const plan of plans.values()) {
      const key = ledsKey(plan);
      const known = before.get(key) ?? next.get(key);
      const one = known ?? this.#addLocality(plan);
      if (!known) fresh.push(one);
      next.set(key, one);
    }
    this.#localities = next;
    for (const [key, one] of before) if (!next.has(key)) one.stop();
    for (const one of fresh) one.start();
    if (next.size === 0) this.#endLocalities();
  }

  /** What they counted goes with the last of them. */
  #endLocalities(): void {
    if (this.#ledsPrefix !== undefined) this.#native.removeStats(this.#ledsPrefix);
    this.#ledsPrefix = undefined;
  }

  #addLocality(plan: LedsPlan): LocalityEndpoints {
    this.#ledsPrefix ??= this.#native.addLedsStats(this.#plan.cluster);
    return new LocalityEndpoints(
      plan,
      {
        statPrefix: this.#ledsPrefix,
        target: `Cluster ${this.#plan.cluster}`,
        judge: (endpoints, place) => this.#judgeLocality(plan, endpoints, place),
        onFirst: () => this.#onLocality(),
      },
      this.#host,
    );
  }

  #judgeLocality(plan: LedsPlan, endpoints: readonly LbEndpoint[], place: Place): Commit {
    const key = ledsKey(plan);
    const whole = withEndpoints(this.#message ?? {}, this.#leds, (one) =>
      ledsKey(one) === key ? endpoints : this.#endpointsOf(one),
    );
    const assignment = this.#compile(whole, place);
    return () => {
      const others = [...this.#localities].filter(([other]) => other !== key);
      if (others.some(([, { isFirstDone }]) => !isFirstDone)) return undefined;
      return this.#apply(whole, assignment);
    };
  }

  /** The first of one has come, or is not waited for: with the last of them all is there. */
  #onLocality(): void {
    if (this.#isLocalityWaitedFor) return;
    unawaited('the first hosts of localities', this.#applyFirst());
  }

  async #applyFirst(): Promise<void> {
    if (this.#message && !this.#current) await this.#applyLocalities(this.#message);
    this.#tellWarm();
  }

  #applyLocalities(message: ClusterLoadAssignment): Promise<string | undefined> {
    const whole = withEndpoints(message, this.#leds, (plan) => this.#endpointsOf(plan));
    return this.#apply(whole, this.#compile(whole, Place.root([])));
  }

  async #apply(
    message: ClusterLoadAssignment,
    assignment: Assignment,
  ): Promise<string | undefined> {
    this.onHosts();
    const wrong = await this.#put(assignment);
    if (wrong !== undefined) return wrong;
    this.#current = message;
    this.#expectAnother(message.policy?.endpoint_stale_after ?? 0);
    return undefined;
  }

  #put(assignment: Assignment): Promise<string | undefined> {
    return this.#assignments.put({ ...assignment, is_former: this.isFormer });
  }

  /** Hosts that nobody has named anew for so long are gone. */
  #expectAnother(ms: number): void {
    clearTimeout(this.#staleTimer);
    if (ms <= 0) return;
    const { stats } = this.#host;
    stats.count(`${this.#statPrefix}assignment_timeout_received`);
    this.#staleTimer = startTimeout(() => {
      // As the real server: what was said beside hosts is gone with them.
      this.#message = this.#current = { cluster_name: this.#plan.serviceName || this.cluster };
      const nothing = this.#compile(this.#current, Place.root([]));
      unawaited('hosts that are gone', this.#put(nothing));
      stats.count(`${this.#statPrefix}assignment_stale`);
    }, ms).unref();
  }
}

/** With the endpoints of localities that have theirs from elsewhere. */
function withEndpoints(
  message: ClusterLoadAssignment,
  plans: ReadonlyMap<number, LedsPlan>,
  endpointsOf: (plan: LedsPlan) => readonly LbEndpoint[],
): ClusterLoadAssignment {
  if (plans.size === 0) return message;
  const endpoints = (message.endpoints ?? []).map((locality, index) => {
    const { leds_cluster_locality_config: _, ...rest } = locality;
    const plan = plans.get(index);
    return plan ? { ...rest, lb_endpoints: endpointsOf(plan) } : locality;
  });
  return { ...message, endpoints };
}

/** Of an address that is named twice the first counts. */
function withoutRepeats(hosts: readonly Host[]): readonly Host[] {
  if (hosts.length < 2) return hosts;
  const known = new Set<string>();
  return hosts.filter(({ address }) => {
    const key = JSON.stringify({ ...address, ip: address?.ip && [...address.ip] });
    return !known.has(key) && known.add(key);
  });
}
