// What clusters get by the way: their hosts, by EDS, DNS or the names that requests ask for, and the
// secrets of their transport sockets. Those that come by CDS wait for their first hosts.
import { unawaited } from '../base/bugs.js';
import type { NativeProxy } from '../native.js';
import type { ClusterPlan } from '../plan/cluster/cluster.js';
import type { NamedClusterPlan } from '../plan/cluster/cluster-plan.js';
import type { DnsClusterPlan } from '../plan/cluster/dns-cluster.js';
import type { EdsPlan } from '../plan/cluster/eds-cluster.js';
import type { LaterContext } from '../plan/compiled.js';
import type { Assignment } from '../plan/plan.gen.js';
import type { TlsSocketPlan } from '../plan/tls-socket.js';
import type { HostSources } from './clusters.js';
import { AssignmentBatch } from './assignment-batch.js';
import { EndpointSubscription } from './endpoints.js';
import type { Secrets } from './secrets.js';
import type { Subscribing } from './subscription.js';

export interface ClusterHostsHost extends Subscribing {
  /** A cluster has come whose hosts DNS knows. Resolves with the first answer; undefined: nobody asks. */
  followDns(plan: DnsClusterPlan): Promise<void> | undefined;
  /** Of any cluster that has gone. */
  forgetDns(cluster: string): void;
  /** A cluster has come whose hosts are those that requests name. */
  followNames(plan: NamedClusterPlan): void;
  /** Of any cluster that has gone. */
  forgetNames(cluster: string): void;
}

/** What a cluster waits for whose hosts are not asked for yet. */
const SOON = new Promise<never>(() => undefined);

export class ClusterHosts implements HostSources {
  readonly #native: NativeProxy;
  readonly #assignments: AssignmentBatch;
  readonly #context: LaterContext;
  readonly #host: ClusterHostsHost;
  readonly #secrets: Secrets;
  /** A cluster of CDS has its hosts. */
  readonly #onWarm: (name: string) => void;
  /** Whether any cluster waits has changed, or may have. */
  readonly #onWaiting: (isAnyWaiting: boolean) => void;
  readonly #endpoints = new Map<string, EndpointSubscription>();
  /** Clusters that wait for their hosts, and for what. */
  readonly #warming = new Map<string, Promise<unknown>>();
  /** Of clusters of CDS. */
  readonly #sockets = new Map<string, readonly TlsSocketPlan[]>();

  constructor(
    native: NativeProxy,
    context: LaterContext,
    host: ClusterHostsHost,
    parts: {
      readonly secrets: Secrets;
      readonly onWarm: (name: string) => void;
      readonly onWaiting: (isAnyWaiting: boolean) => void;
    },
  ) {
    this.#native = native;
    this.#assignments = new AssignmentBatch(native);
    this.#context = context;
    this.#host = host;
    this.#secrets = parts.secrets;
    this.#onWarm = parts.onWarm;
    this.#onWaiting = parts.onWaiting;
  }

  /** Those that ask EDS, by the names of their clusters. */
  get endpoints(): ReadonlyMap<string, EndpointSubscription> {
    return this.#endpoints;
  }

  isWarming(cluster: string): boolean {
    return this.#warming.has(cluster);
  }

  hostsOf({ eds }: ClusterPlan): Assignment | undefined {
    return eds && this.#sameEndpoints(eds)?.applied;
  }

  expect({ eds, dns, cluster: { name = '' } }: ClusterPlan, isNew: boolean): void {
    const same = eds && this.#sameEndpoints(eds);
    if (!dns && (!eds || same?.isWarming === false)) return;
    this.#warming.set(name, SOON);
    this.#onWaiting(true);
    this.#native.setWarming(name, true, isNew);
  }

  follow({ eds, dns, names, sockets, cluster: { name = '' } }: ClusterPlan, isNew: boolean): void {
    const before = this.#sockets.get(name) ?? [];
    this.#sockets.set(name, sockets);
    for (const socket of sockets) this.#secrets.add(socket);
    // After those that are new: a secret that both have is not asked for again.
    for (const socket of before) this.#secrets.remove(socket);
    const same = eds && this.#sameEndpoints(eds);
    if (!same) this.#forgetEndpoints(name);
    const fresh = eds && !same ? this.addEndpoints(eds) : undefined;
    fresh?.start();
    const endpoints = same ?? fresh;
    this.#host.forgetDns(name);
    const answer = dns && this.#host.followDns(dns);
    this.#warm(name, endpoints?.isWarming ? endpoints.warmed : answer, isNew);
    this.#host.forgetNames(name);
    if (names) this.#host.followNames(names);
  }

  forget(cluster: string): void {
    for (const socket of this.#sockets.get(cluster) ?? []) this.#secrets.remove(socket);
    this.#sockets.delete(cluster);
    this.#warming.delete(cluster);
    this.#onWaiting(this.#warming.size > 0);
    this.#forgetEndpoints(cluster);
    this.#host.forgetDns(cluster);
    this.#host.forgetNames(cluster);
  }

  addEndpoints(plan: EdsPlan): EndpointSubscription {
    const targets = { native: this.#native, assignments: this.#assignments };
    const one = new EndpointSubscription(plan, targets, this.#context, this.#host);
    this.#endpoints.set(plan.cluster, one);
    return one;
  }

  stop(): void {
    for (const one of this.#endpoints.values()) one.stop();
  }

  #warm(name: string, hosts: Promise<unknown> | undefined, isNew: boolean): void {
    const wasExpected = this.#warming.get(name) === SOON;
    this.#warming.delete(name);
    if (hosts) this.#warming.set(name, hosts);
    this.#onWaiting(this.#warming.size > 0);
    if (!hosts) {
      // Where nothing has come, those of the cluster before it are no longer its own.
      if (wasExpected) this.#native.setWarming(name, false, isNew);
      return;
    }
    if (!wasExpected) this.#native.setWarming(name, true, isNew);
    const end = async (): Promise<void> => {
      await hosts;
      if (this.#warming.get(name) !== hosts) return;
      this.#warming.delete(name);
      this.#native.setWarming(name, false, isNew);
      this.#onWarm(name);
      this.#onWaiting(this.#warming.size > 0);
    };
    unawaited('a cluster that waits for its hosts', end());
  }

  #forgetEndpoints(cluster: string): void {
    this.#endpoints.get(cluster)?.stop();
    this.#endpoints.delete(cluster);
  }

  /** An aggregated stream does not say again what it has said; anybody else is asked anew. */
  #sameEndpoints(plan: EdsPlan): EndpointSubscription | undefined {
    const known = this.#endpoints.get(plan.cluster);
    return plan.source.kind === 'ads' && known?.isFor(plan) ? known : undefined;
  }
}
