// What clusters get by the way: their hosts, by EDS, DNS or the names that requests ask for, and the
// secrets of their transport sockets. Those that come by CDS wait for all of it, and for a round of
// checks of their hosts.
import { unawaited } from '../base/bugs.js';
import type { NativeProxy } from '../native.js';
import type { ClusterPlan } from '../plan/cluster/cluster.js';
import type { NamedClusterPlan } from '../plan/cluster/cluster-plan.js';
import type { DnsClusterPlan } from '../plan/cluster/dns-cluster.js';
import type { EdsPlan } from '../plan/cluster/eds-cluster.js';
import type { LaterContext } from '../plan/compiled.js';
import type { DiscoveredPlace } from '../plan/discovered.js';
import { releaseSecrets, type HeldSecret } from '../plan/live-sources.js';
import type { Assignment } from '../plan/plan.gen.js';
import type { SecretRequest } from '../plan/secret-request.js';
import type { ClusterSocket, TlsSocketPlan } from '../plan/tls-socket.js';
import type { HostSources } from './clusters.js';
import { AssignmentBatch } from './assignment-batch.js';
import { EndpointSubscription } from './endpoints.js';
import type { Extensions } from './extensions.js';
import { PlaceBatch } from './place-batch.js';
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
  readonly #places: PlaceBatch;
  readonly #context: LaterContext;
  readonly #host: ClusterHostsHost;
  readonly #secrets: Secrets;
  readonly #extensions: Extensions;
  /** A cluster of CDS has its hosts. */
  readonly #onWarm: (name: string) => void;
  /** Whether any cluster waits has changed, or may have. */
  readonly #onWaiting: (isAnyWaiting: boolean) => void;
  readonly #endpoints = new Map<string, EndpointSubscription>();
  /** Of clusters that are in use while others wait for their hosts in their places. */
  readonly #leaving = new Map<string, EndpointSubscription>();
  /** Clusters that wait for their hosts, secrets or checks; each resolves once that cluster does not. */
  readonly #warming = new Map<string, Promise<unknown>>();
  /** Of clusters of CDS. */
  readonly #sockets = new Map<string, readonly TlsSocketPlan[]>();
  /** Of those in whose places others wait. */
  readonly #formerSockets = new Map<string, readonly TlsSocketPlan[]>();
  /** Likewise, of filters of clusters of CDS. */
  readonly #filterSecrets = new Map<string, readonly HeldSecret[]>();
  readonly #formerSecrets = new Map<string, readonly HeldSecret[]>();
  /** Filters of clusters of CDS that come later. */
  readonly #discovered = new Map<string, readonly DiscoveredPlace[]>();

  constructor(
    native: NativeProxy,
    context: LaterContext,
    host: ClusterHostsHost,
    parts: {
      readonly secrets: Secrets;
      readonly extensions: Extensions;
      readonly onWarm: (name: string) => void;
      readonly onWaiting: (isAnyWaiting: boolean) => void;
    },
  ) {
    this.#native = native;
    this.#assignments = new AssignmentBatch(native);
    this.#places = new PlaceBatch(native, (name) => context.grpcClusters.replaced(name));
    this.#context = context;
    this.#host = host;
    this.#secrets = parts.secrets;
    this.#extensions = parts.extensions;
    this.#onWarm = parts.onWarm;
    this.#onWaiting = parts.onWaiting;
  }

  /** Those that ask EDS, by the names of their clusters. */
  get endpoints(): ReadonlyMap<string, EndpointSubscription> {
    return this.#endpoints;
  }

  /** Of the cluster that is in use; undefined: it has its hosts otherwise, or waits for the first. */
  endpointsInUse(cluster: string): EndpointSubscription | undefined {
    const known = this.isWarming(cluster) ? this.#leaving : this.#endpoints;
    return known.get(cluster);
  }

  /** Those that wait in another's place, and those whose place it is, among them. */
  get clustersOfEds(): readonly string[] {
    return [...new Set([...this.#endpoints.keys(), ...this.#leaving.keys()])];
  }

  isWarming(cluster: string): boolean {
    return this.#warming.has(cluster);
  }

  hostsOf({ eds }: ClusterPlan): Assignment | undefined {
    return eds && this.#sameEndpoints(eds)?.applied;
  }

  /** Resolves once that cluster is in its place. */
  async warmed(cluster: string): Promise<void> {
    await this.#warming.get(cluster);
  }

  awaits(plan: ClusterPlan): boolean {
    const { cluster, eds, dns, sockets, discovered = [] } = plan;
    // It is asked of each that comes: the place is not to be that one's.
    this.#places.flush();
    if (cluster.health_check !== undefined) return true;
    if (discovered.some((one) => this.#extensions.lacks(one))) return true;
    if (this.#secrets.awaited(requestsOf(plan))) return true;
    if (dns !== undefined || sockets.some((one) => this.#secrets.lacks(one))) return true;
    return eds !== undefined && this.#sameEndpoints(eds)?.isWarming !== false;
  }

  expect(plan: ClusterPlan): void {
    const { name = '' } = plan.cluster;
    this.#context.grpcClusters.expect(name, plan.control);
    this.#holdSecrets(name, plan.secrets ?? []);
    if (this.awaits(plan)) this.#warming.set(name, SOON);
    else this.#takePlace(name);
    this.#onWaiting(this.#warming.size > 0);
  }

  /** Those of the one in whose place it comes are held until it is there. */
  #holdSecrets(name: string, secrets: readonly HeldSecret[]): void {
    const before = [
      ...(this.#formerSecrets.get(name) ?? []),
      ...(this.#filterSecrets.get(name) ?? []),
    ];
    if (before.length > 0) this.#formerSecrets.set(name, before);
    if (secrets.length > 0) this.#filterSecrets.set(name, secrets);
    else this.#filterSecrets.delete(name);
  }

  /** Of one that is in its place already, and may have come in the place of one that has waited. */
  #takePlace(name: string): void {
    this.#warming.delete(name);
    // At once: what is given back from here on would be the new one's.
    this.#context.grpcClusters.replaced(name);
  }

  follow(plan: ClusterPlan): void {
    const { eds, dns, names, sockets, discovered = [] } = plan;
    const { name = '' } = plan.cluster;
    this.#followFilters(name, discovered);
    const before = [...(this.#formerSockets.get(name) ?? []), ...(this.#sockets.get(name) ?? [])];
    // Most have none: of thousands nothing is kept then.
    if (before.length > 0) this.#formerSockets.set(name, before);
    if (sockets.length > 0) this.#sockets.set(name, sockets);
    else this.#sockets.delete(name);
    for (const socket of sockets) this.#secrets.add(socket);
    const same = eds && this.#sameEndpoints(eds);
    const fresh = eds && !same ? this.#replaceEndpoints(eds, plan) : undefined;
    if (!eds) this.#leaveEndpoints(name);
    else if (same && same === this.#leaving.get(name)) this.#returnTo(same);
    fresh?.start();
    const endpoints = same ?? fresh;
    this.#host.forgetDns(name);
    const answer = dns && this.#host.followDns(dns);
    this.#warm(plan, endpoints?.isWarming ? endpoints.warmed : answer);
    this.#host.forgetNames(name);
    if (names) this.#host.followNames(names);
  }

  forget(cluster: string): void {
    for (const socket of this.#sockets.get(cluster) ?? []) this.#secrets.remove(socket);
    this.#sockets.delete(cluster);
    releaseSecrets(this.#filterSecrets.get(cluster) ?? []);
    this.#filterSecrets.delete(cluster);
    this.#followFilters(cluster, []);
    this.#warming.delete(cluster);
    this.#onWaiting(this.#warming.size > 0);
    this.#context.grpcClusters.delete(cluster);
    this.#endFormer(cluster);
    this.#endpoints.get(cluster)?.stop();
    this.#endpoints.delete(cluster);
    this.#host.forgetDns(cluster);
    this.#host.forgetNames(cluster);
  }

  /** In the place of those of the cluster before. */
  #followFilters(cluster: string, places: readonly DiscoveredPlace[]): void {
    const before = this.#discovered.get(cluster) ?? [];
    if (places.length > 0) this.#discovered.set(cluster, places);
    else this.#discovered.delete(cluster);
    this.#extensions.addOfCluster(places);
    for (const one of before) this.#extensions.remove(one);
    this.#extensions.fill(places.filter((one) => !this.#extensions.lacks(one)));
  }

  addEndpoints(plan: EdsPlan): EndpointSubscription {
    const targets = { native: this.#native, assignments: this.#assignments };
    const one = new EndpointSubscription(plan, targets, this.#context, this.#host);
    this.#endpoints.set(plan.cluster, one);
    return one;
  }

  /** Of static clusters, as they start: statistics say which have not all that they need yet. */
  showWarming(sockets: readonly ClusterSocket[]): void {
    const needs = new Map<string, Promise<unknown>[]>();
    const need = (cluster: string, one: Promise<unknown>): void => {
      needs.set(cluster, [...(needs.get(cluster) ?? []), one]);
    };
    for (const one of this.#endpoints.values()) need(one.cluster, one.warmed);
    for (const { cluster, socket } of sockets) {
      const secrets = this.#secrets.needed(socket);
      if (secrets) need(cluster, secrets);
    }
    for (const [cluster, all] of needs) {
      this.#native.setWarming(cluster, true);
      const warm = Promise.all(all).then(() => this.#native.setWarming(cluster, false));
      unawaited('what a cluster waits for', warm);
    }
  }

  stop(): void {
    for (const one of [...this.#endpoints.values(), ...this.#leaving.values()]) one.stop();
  }

  /** What it waits for beside its hosts. */
  #lacking(plan: ClusterPlan): readonly Promise<unknown>[] {
    const { sockets, discovered = [] } = plan;
    const all = [
      this.#secrets.awaited(requestsOf(plan)),
      ...sockets.map((one) => this.#secrets.needed(one)),
      ...discovered.map((one) => this.#extensions.needed(one)),
    ];
    return all.filter((one) => one !== undefined);
  }

  /** `hosts`: what it waits for before its hosts are known. */
  #warm(plan: ClusterPlan, hosts: Promise<unknown> | undefined): void {
    const { name = '', health_check: checks } = plan.cluster;
    if (!this.#warming.has(name)) {
      this.#endFormer(name);
      return;
    }
    if (!hosts && this.#lacking(plan).length === 0 && checks === undefined) {
      this.#putInPlace(name);
      return;
    }
    const isLeft = (): boolean => this.#warming.get(name) !== warmed;
    const warm = async (): Promise<void> => {
      await hosts;
      const lacking = this.#lacking(plan);
      await Promise.all(lacking);
      if (isLeft()) return;
      // Hosts are checked as soon as they are known, and may be quick. But what checks find out while
      // a secret is not there is not what they will.
      if (checks !== undefined) await this.#native.awaitRound(name, lacking.length === 0);
      if (isLeft()) return;
      this.#putInPlace(name);
      this.#onWarm(name);
    };
    const warmed = warm();
    this.#warming.set(name, warmed);
    unawaited('a cluster that waits for its hosts', warmed);
  }

  #putInPlace(name: string): void {
    this.#warming.delete(name);
    this.#endFormer(name);
    this.#places.add(name);
    this.#onWaiting(this.#warming.size > 0);
  }

  #replaceEndpoints(eds: EdsPlan, { cluster: plan, sockets }: ClusterPlan): EndpointSubscription {
    const { cluster } = eds;
    const former = this.#endpoints.get(cluster);
    // Nobody is asked the same twice on one stream: the answer would not come again.
    if (former?.asksFor(eds)) former.stop();
    else this.#leaveEndpoints(cluster);
    const next = this.addEndpoints(eds);
    if (plan.health_check === undefined) this.#endLeavingWithHostsOf(next, sockets);
    return next;
  }

  /** What one response says of both is not the former's any more. */
  #endLeavingWithHostsOf(next: EndpointSubscription, sockets: readonly TlsSocketPlan[]): void {
    // It lasts as long as the cluster: nothing of its plan is to last with it.
    next.onHosts = (): void => {
      if (next.isFormer || !this.#leaving.has(next.cluster)) return;
      if (sockets.every((one) => !this.#secrets.needed(one))) this.#endLeaving(next.cluster);
    };
  }

  /** As the real server: a cluster in use hears of its hosts until the one in its place has its own. */
  #leaveEndpoints(cluster: string): void {
    const former = this.#endpoints.get(cluster);
    if (!former) return;
    this.#endpoints.delete(cluster);
    if (former.isInUse) {
      former.isFormer = true;
      this.#leaving.set(cluster, former);
    } else {
      former.stop();
    }
  }

  /** What was to come in its place is not to come any more. */
  #returnTo(one: EndpointSubscription): void {
    this.#leaving.delete(one.cluster);
    this.#endpoints.get(one.cluster)?.stop();
    one.isFormer = false;
    this.#endpoints.set(one.cluster, one);
  }

  /** The one that has waited is in its place, or there is none any more. */
  #endFormer(cluster: string): void {
    this.#endLeaving(cluster);
    // After those that are new: a secret that both have is not asked for again.
    for (const socket of this.#formerSockets.get(cluster) ?? []) this.#secrets.remove(socket);
    this.#formerSockets.delete(cluster);
    releaseSecrets(this.#formerSecrets.get(cluster) ?? []);
    this.#formerSecrets.delete(cluster);
    const next = this.#endpoints.get(cluster);
    if (next) next.isInUse = true;
  }

  #endLeaving(cluster: string): void {
    this.#leaving.get(cluster)?.stop();
    this.#leaving.delete(cluster);
  }

  /** An aggregated stream does not say again what it has said; anybody else is asked anew. */
  #sameEndpoints(plan: EdsPlan): EndpointSubscription | undefined {
    if (plan.source.kind !== 'ads') return undefined;
    const known = [this.#endpoints.get(plan.cluster), this.#leaving.get(plan.cluster)];
    return known.find((one) => one?.isFor(plan));
  }
}

/** For secrets of its filters. */
function requestsOf({ secrets = [] }: ClusterPlan): readonly SecretRequest[] {
  return secrets.flatMap(({ request }) => request ?? []);
}
