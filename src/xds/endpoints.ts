// The hosts of a cluster that come by EDS.
import type { envoy_config_endpoint_v3_ClusterLoadAssignment as ClusterLoadAssignment } from '../../build/messages.gen.js';
import { startTimeout } from '../base/timers.js';
import type { NativeProxy } from '../native.js';
import { compileHosts } from '../plan/cluster/assignment.js';
import { encodeUpdate, type Assignment, type Host } from '../plan/plan.gen.js';
import type { EdsPlan } from '../plan/cluster/eds-cluster.js';
import { EDS } from './api.js';
import { Subscription, type Subscribing } from './subscription.js';
import type { Commit, Resource } from './updates.js';

export class EndpointSubscription {
  readonly #plan: EdsPlan;
  readonly #native: NativeProxy;
  readonly #host: Subscribing;
  readonly #statPrefix: string;
  readonly #subscription: Subscription;
  #current: ClusterLoadAssignment | undefined;
  #onWarm: () => void = () => undefined;
  readonly #warmed = new Promise<void>((resolve) => {
    this.#onWarm = resolve;
  });
  /** As the data plane has it. */
  #applied: Assignment;
  #staleTimer: NodeJS.Timeout | undefined;

  constructor(plan: EdsPlan, native: NativeProxy, host: Subscribing) {
    this.#plan = plan;
    this.#native = native;
    this.#host = host;
    this.#applied = { cluster_name: plan.cluster, hosts: [] };
    this.#statPrefix = native.clusterPrefix(plan.cluster) ?? '';
    this.#subscription = new Subscription(
      {
        source: plan.source,
        statPrefix: this.#statPrefix,
        api: EDS,
        names: [plan.serviceName],
        target: `Cluster ${plan.cluster}`,
        judge: (resources) => this.#judge(resources),
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
    return !this.#subscription.isFirstDone;
  }

  /** As the data plane has it; undefined before the first. */
  get applied(): Assignment | undefined {
    return this.#current && this.#applied;
  }

  /** Whether that is asked for in the same way. */
  isFor(plan: EdsPlan): boolean {
    return JSON.stringify(plan) === JSON.stringify(this.#plan);
  }

  get cluster(): string {
    return this.#plan.cluster;
  }

  get serviceName(): string {
    return this.#plan.serviceName;
  }

  /** Undefined before the first. */
  get current(): ClusterLoadAssignment | undefined {
    return this.#current;
  }

  start(): void {
    this.#subscription.start(() => this.#onWarm());
  }

  stop(): void {
    clearTimeout(this.#staleTimer);
    this.#subscription.stop();
    this.#onWarm();
  }

  #judge(resources: readonly Resource[]): string | Commit {
    const [first] = resources;
    const { cluster, serviceName } = this.#plan;
    if (!first) {
      this.#host.log(
        'debug',
        `Missing ClusterLoadAssignment for ${serviceName} in onConfigUpdate()`,
      );
      return () => {
        this.#host.stats.count(`${this.#statPrefix}update_empty`);
        return undefined;
      };
    }
    if (resources.length > 1) return `Unexpected EDS resource length: ${resources.length}`;
    const message = first.message as unknown as ClusterLoadAssignment;
    if (message.cluster_name !== serviceName) {
      return `Unexpected EDS cluster (expecting ${serviceName}): ${message.cluster_name ?? ''}`;
    }
    const { all, policy } = compileHosts(message, first.place, this.#plan.needs);
    const assignment = { cluster_name: cluster, hosts: withoutRepeats(all), ...policy };
    return () => this.#apply(message, assignment);
  }

  #apply(message: ClusterLoadAssignment, assignment: Assignment): string | undefined {
    const { stats } = this.#host;
    if (JSON.stringify(assignment.hosts) === JSON.stringify(this.#applied.hosts)) {
      stats.count(`${this.#statPrefix}update_no_rebuild`);
    }
    const errors = this.#native.apply(encodeUpdate({ assignments: [assignment] }));
    if (errors.length > 0) return errors.map((error) => error.message).join('\n');
    this.#current = message;
    this.#applied = assignment;
    this.#expectAnother(message.policy?.endpoint_stale_after ?? 0);
    const weights = assignment.hosts?.map(({ weight }) => weight ?? 1) ?? [];
    stats.setGauge(`${this.#statPrefix}max_host_weight`, Math.max(1, ...weights));
    return undefined;
  }

  /** Hosts that nobody has named anew for so long are gone. */
  #expectAnother(ms: number): void {
    clearTimeout(this.#staleTimer);
    if (ms <= 0) return;
    const { stats } = this.#host;
    stats.count(`${this.#statPrefix}assignment_timeout_received`);
    this.#staleTimer = startTimeout(() => {
      const assignment = { ...this.#applied, hosts: [] };
      this.#native.apply(encodeUpdate({ assignments: [assignment] }));
      this.#applied = assignment;
      stats.count(`${this.#statPrefix}assignment_stale`);
    }, ms).unref();
  }
}

/** Of an address that is named twice the first counts. */
function withoutRepeats(hosts: readonly Host[]): readonly Host[] {
  const known = new Set<string>();
  return hosts.filter(({ address }) => {
    const key = JSON.stringify({ ...address, ip: address?.ip && [...address.ip] });
    return !known.has(key) && known.add(key);
  });
}
