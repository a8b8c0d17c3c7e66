// All resources that are not written in the bootstrap.
import type { envoy_config_endpoint_v3_ClusterLoadAssignment as ClusterLoadAssignment } from '../../build/messages.gen.js';
import type { NativeProxy } from '../native.js';
import type { ClusterPlan } from '../plan/cluster/cluster.js';
import type { DnsClusterPlan } from '../plan/cluster/dns-cluster.js';
import type { LaterContext } from '../plan/compile.js';
import type { CdsPlan } from '../plan/cluster/cds-plan.js';
import type { EdsPlan } from '../plan/cluster/eds-cluster.js';
import type { DynamicChain, LdsPlan } from '../plan/listener/lds-plan.js';
import type { RdsPlan } from '../plan/route-slots.js';
import type { TlsFiles, TlsSocketPlan } from '../plan/tls-socket.js';
import { ClusterSubscription, type DynamicCluster } from './clusters.js';
import type { DynamicListener } from './departures.js';
import { EndpointSubscription } from './endpoints.js';
import { ListenerSubscription, type ListenerHost, type RefusedListener } from './listeners.js';
import { RouteSubscription, type DynamicRoutes } from './routes.js';
import { Secrets, type DynamicSecret } from './secrets.js';
import type { SubscriptionHost } from './subscription.js';

export interface XdsPlan {
  /** Of static clusters. */
  readonly eds: readonly EdsPlan[];
  readonly cds: CdsPlan | undefined;
  readonly lds: LdsPlan | undefined;
  /** Of static clusters and of listeners. */
  readonly tls: readonly TlsSocketPlan[];
  /** It knows which route configurations are wanted. */
  readonly context: LaterContext;
}

export interface XdsHost extends SubscriptionHost, Pick<ListenerHost, 'drain' | 'mayListen'> {
  /** A cluster has come whose hosts DNS knows. */
  followDns(plan: DnsClusterPlan): void;
  /** Of any cluster that has gone. */
  forgetDns(cluster: string): void;
}

/** What EDS says of a cluster. */
export interface DynamicEndpoints {
  readonly serviceName: string;
  /** Undefined: nothing has come yet. */
  readonly assignment: ClusterLoadAssignment | undefined;
}

/** What LDS says, and what became of it. */
export interface DynamicListeners {
  readonly version: string;
  readonly active: readonly DynamicListener[];
  readonly draining: readonly DynamicListener[];
  readonly refused: readonly RefusedListener[];
  /** Of all of them. */
  readonly chains: readonly DynamicChain[];
}

export class Xds {
  readonly #native: NativeProxy;
  readonly #host: XdsHost;
  readonly #context: LaterContext;
  readonly #routes = new Map<RdsPlan, RouteSubscription>();
  readonly #endpoints = new Map<string, EndpointSubscription>();
  readonly #clusters: ClusterSubscription | undefined;
  readonly #listeners: ListenerSubscription | undefined;
  readonly #secrets: Secrets;
  /** Of clusters of CDS. */
  readonly #sockets = new Map<string, readonly TlsSocketPlan[]>();
  /** Of listeners of LDS. */
  #ofListeners: ReadonlySet<TlsSocketPlan> = new Set();

  /** The static clusters have been applied. */
  constructor(plan: XdsPlan, native: NativeProxy, host: XdsHost) {
    this.#native = native;
    this.#host = host;
    this.#context = plan.context;
    for (const one of plan.context.routes.requests) this.#addRoutes(one);
    for (const one of plan.eds) this.#addEndpoints(one);
    this.#secrets = new Secrets(native, host);
    for (const one of plan.tls) this.#secrets.add(one);
    this.#clusters =
      plan.cds &&
      new ClusterSubscription(plan.cds, native, host, {
        follow: (cluster) => this.#follow(cluster),
        forget: (name) => this.#forget(name),
      });
    this.#listeners =
      plan.lds &&
      new ListenerSubscription(plan.lds, native, plan.context, {
        ...host,
        clusterNames: () => this.#clusterNames(),
        onRoutes: () => this.#followRoutes(),
        onSockets: () => this.#followSockets(),
      });
  }

  /** What files say already is in use when this returns. */
  start(): void {
    this.#secrets.start();
    for (const one of this.#endpoints.values()) one.start();
    this.#clusters?.start();
    for (const one of this.#routes.values()) one.start();
    this.#listeners?.start();
  }

  stop(): void {
    this.#listeners?.stop();
    for (const one of [...this.#endpoints.values(), ...this.#routes.values()]) one.stop();
    this.#clusters?.stop();
    this.#secrets.stop();
  }

  /** The certificates of all transport sockets. */
  tlsFiles(): TlsFiles[] {
    return this.#secrets.files;
  }

  secrets(): DynamicSecret[] {
    return this.#secrets.current;
  }

  /** Those that have come. */
  routes(): readonly DynamicRoutes[] {
    return [...this.#routes.values()].flatMap(({ current }) => current ?? []);
  }

  /** Undefined: the cluster is not of the type EDS. */
  endpointsOf(cluster: string): DynamicEndpoints | undefined {
    const found = this.#endpoints.get(cluster);
    return found && { serviceName: found.serviceName, assignment: found.current };
  }

  /** Those of CDS, and the version of its latest update. */
  clusters(): { readonly version: string; readonly all: readonly DynamicCluster[] } {
    return { version: this.#clusters?.version ?? '', all: [...(this.#clusters?.current ?? [])] };
  }

  /** Undefined: there is no LDS. */
  listeners(): DynamicListeners | undefined {
    const from = this.#listeners;
    if (!from) return undefined;
    const { version, draining, refused, chains } = from;
    return { version, active: [...from.current], draining, refused, chains };
  }

  /** Listeners may listen again. */
  refreshListeners(): void {
    this.#listeners?.refresh();
  }

  #clusterNames(): ReadonlySet<string> {
    const dynamic = [...(this.#clusters?.current ?? [])].map(({ message }) => message.name ?? '');
    return new Set([...this.#context.clusterNames, ...dynamic]);
  }

  /** Those that are wanted have come when this returns; those that nobody wants any more end. */
  #followRoutes(): void {
    const wanted = new Set(this.#context.routes.requests);
    for (const [plan, subscription] of this.#routes) {
      if (wanted.has(plan)) continue;
      subscription.end();
      this.#routes.delete(plan);
    }
    for (const plan of wanted) {
      const known = this.#routes.get(plan);
      if (known) known.fillNewTables();
      else this.#addRoutes(plan).start();
    }
  }

  #addRoutes(plan: RdsPlan): RouteSubscription {
    const one = new RouteSubscription(plan, this.#native, this.#context, this.#host);
    this.#routes.set(plan, one);
    return one;
  }

  /** The transport sockets of listeners that come and go. */
  #followSockets(): void {
    const chains = this.#listeners?.chains ?? [];
    const wanted = new Set(chains.flatMap(({ sockets }) => sockets));
    for (const socket of this.#ofListeners) if (!wanted.has(socket)) this.#secrets.remove(socket);
    for (const socket of wanted) if (!this.#ofListeners.has(socket)) this.#secrets.add(socket);
    this.#ofListeners = wanted;
  }

  #follow({ eds, dns, sockets, cluster }: ClusterPlan): void {
    this.#sockets.set(cluster.name ?? '', sockets);
    for (const socket of sockets) this.#secrets.add(socket);
    if (eds) this.#addEndpoints(eds).start();
    if (dns) this.#host.followDns(dns);
  }

  #forget(cluster: string): void {
    for (const socket of this.#sockets.get(cluster) ?? []) this.#secrets.remove(socket);
    this.#sockets.delete(cluster);
    this.#endpoints.get(cluster)?.stop();
    this.#endpoints.delete(cluster);
    this.#host.forgetDns(cluster);
  }

  #addEndpoints(plan: EdsPlan): EndpointSubscription {
    const one = new EndpointSubscription(plan, this.#native, this.#host);
    this.#endpoints.set(plan.cluster, one);
    return one;
  }
}
