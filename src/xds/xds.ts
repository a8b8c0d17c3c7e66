// All resources that are not written in the bootstrap.
import type { envoy_config_endpoint_v3_ClusterLoadAssignment as ClusterLoadAssignment } from '../../build/messages.gen.js';
import type { NativeProxy } from '../native.js';
import type { LaterContext } from '../plan/compiled.js';
import type { CdsPlan } from '../plan/cluster/cds-plan.js';
import type { EdsPlan } from '../plan/cluster/eds-cluster.js';
import type { DynamicChain, LdsPlan } from '../plan/listener/lds-plan.js';
import type { DiscoveredKind, DiscoveredPlace } from '../plan/discovered.js';
import type { RdsPlan, SrdsPlan } from '../plan/route-slots.js';
import type { ClusterSocket, TlsFiles, TlsSocketPlan } from '../plan/tls-socket.js';
import { unawaited } from '../base/bugs.js';
import { ClusterHosts, type ClusterHostsHost } from './cluster-hosts.js';
import { CDS, RDS } from './api.js';
import { ClusterSubscription, type DynamicCluster } from './clusters.js';
import type { DynamicListener } from './departures.js';
import type { RefusedListener } from './listener-refusals.js';
import { ListenerSubscription, type ListenerHost } from './listeners.js';
import { LISTENERS } from './waiting-listeners.js';
import { Extensions, type DynamicExtension } from './extensions.js';
import { Demands } from './on-demand.js';
import { needsOf, type NeedSources } from './listener-needs.js';
import { ScopeSubscription, type DynamicScope } from './scopes.js';
import { RouteSubscription, type DynamicRoutes } from './routes.js';
import type { DynamicSecret } from './secret-subscription.js';
import { Secrets } from './secrets.js';
import type { PlainObject } from '../config/values/objects.js';
import type { RtdsPlan } from '../plan/rtds.js';
import type { StreamPlan } from '../plan/sources.js';
import { ControlPlanes, type ControlPlanesHost } from './control-planes.js';
import { InitTargets } from './init-targets.js';
import { subscribeToRuntime } from './runtime-layers.js';
import type { Subscribing, Subscription } from './subscription.js';

export interface XdsPlan {
  /** Of static clusters. */
  readonly eds: readonly EdsPlan[];
  readonly cds: CdsPlan | undefined;
  readonly lds: LdsPlan | undefined;
  readonly rtds: readonly RtdsPlan[];
  readonly ads: StreamPlan | undefined;
  readonly authorities: readonly StreamPlan[];
  /** Filters of static listeners that come later. */
  readonly discovered: readonly DiscoveredPlace[];
  /** Of clusters that requests ask for. */
  readonly compileClusterLater: CdsPlan['compile'];
  /** Of static clusters, and of listeners. */
  readonly tls: readonly ClusterSocket[];
  readonly listenerTls: readonly TlsSocketPlan[];
  /** It knows which route configurations are wanted. */
  readonly context: LaterContext;
}

export interface XdsHost
  extends
    Omit<ControlPlanesHost, 'native'>,
    Omit<ClusterHostsHost, keyof Subscribing>,
    Pick<ListenerHost, 'drain' | 'mayListen'> {
  /** Of the runtime, by its name. */
  useLayer(name: string, values: PlainObject): void;
}

/** What EDS says of a cluster. */
export interface DynamicEndpoints {
  /** '': it is asked for by the cluster's name. */
  readonly serviceName: string;
  /** Undefined: nothing has come yet. */
  readonly assignment: ClusterLoadAssignment | undefined;
}

/** What LDS says, and what became of it. */
export interface DynamicListeners {
  readonly version: string;
  readonly active: readonly DynamicListener[];
  readonly warming: readonly DynamicListener[];
  /** Those of the warming that the start of the server waits for. */
  readonly early: readonly DynamicListener[];
  readonly draining: readonly DynamicListener[];
  readonly refused: readonly RefusedListener[];
  /** Of all of them. */
  readonly chains: readonly DynamicChain[];
}

export class Xds {
  readonly #native: NativeProxy;
  readonly #host: XdsHost & Subscribing;
  readonly #targets = new InitTargets();
  readonly #planes: ControlPlanes;
  readonly #layers: readonly Subscription[];
  /** Routes that listeners wait for. */
  readonly #routesToCome = new InitTargets();
  readonly #context: LaterContext;
  readonly #routes = new Map<RdsPlan, RouteSubscription>();
  readonly #hosts: ClusterHosts;
  readonly #clusters: ClusterSubscription | undefined;
  readonly #listeners: ListenerSubscription | undefined;
  readonly #secrets: Secrets;
  readonly #scopes = new Map<SrdsPlan, ScopeSubscription>();
  readonly #extensions: Extensions;
  readonly #demands: Demands;
  /** Of listeners of LDS: those that are asked for, and those that have what has come for them. */
  #discovered = new Set<DiscoveredPlace>();
  #filled: ReadonlySet<DiscoveredPlace> = new Set();
  readonly #clusterTls: readonly ClusterSocket[];
  readonly #listenerTls: readonly TlsSocketPlan[];
  #isStopped = false;
  #areClustersReady = false;
  #isStarted = false;
  /** Of listeners of LDS. */
  #ofListeners: ReadonlySet<TlsSocketPlan> = new Set();
  /** Those of them that the data plane has. */
  #placed: ReadonlySet<TlsSocketPlan> = new Set();

  /** The static clusters have been applied. */
  constructor(plan: XdsPlan, native: NativeProxy, host: XdsHost) {
    this.#native = native;
    this.#planes = new ControlPlanes(plan.ads, plan.authorities, { ...host, native });
    this.#host = { ...host, planes: this.#planes, targets: this.#targets };
    this.#context = plan.context;
    const layerStats = plan.rtds.length > 0 ? native.addRtdsStats() : '';
    this.#layers = plan.rtds.map((layer) =>
      subscribeToRuntime(layer, layerStats, this.#host, (values) =>
        host.useLayer(layer.layer, values),
      ),
    );
    for (const one of plan.context.routes.requests) this.#addRoutes(one);
    for (const one of plan.context.routes.scopes) this.#addScopes(one);
    this.#extensions = new Extensions(native, this.#host, () => this.#routesToCome.add('filters'));
    for (const one of plan.discovered) this.#extensions.add(one);
    plan.context.discovered.ask({
      latest: (...wanted) => this.#extensions.latest(...wanted),
      onNested: (come, gone) => {
        this.#extensions.change(come, gone);
        this.#followRoutes();
      },
    });
    this.#secrets = new Secrets(native, this.#host, plan.context.live);
    this.#hosts = new ClusterHosts(native, plan.context, this.#host, {
      secrets: this.#secrets,
      extensions: this.#extensions,
      onWarm: (name) => this.#clusters?.onWarm(name),
      // As the real server, once it has started: clusters are answered for when they have their hosts.
      onWaiting: (isAnyWaiting) => this.#planes.hold(CDS, isAnyWaiting && this.#areClustersReady),
    });
    for (const one of plan.eds) this.#hosts.addEndpoints(one);
    for (const { socket } of plan.tls) this.#secrets.add(socket);
    this.#clusterTls = plan.tls;
    this.#listenerTls = plan.listenerTls;
    for (const one of plan.listenerTls) this.#secrets.announce(one);
    this.#clusters = plan.cds && new ClusterSubscription(plan.cds, native, this.#host, this.#hosts);
    const parts = { sources: plan.context.clusterSources, compile: plan.compileClusterLater };
    this.#demands = new Demands(parts, native, this.#host, {
      hosts: this.#hosts,
      askForHost: (name) => this.#askForHost(name),
      askForRoutes: (table, onDone) => this.#askForRoutes(table, onDone),
      isStatic: (name) => this.#clusterNames().has(name),
      warmed: (name) => this.#hosts.warmed(name),
    });
    const needs: NeedSources = {
      routes: (slot) => {
        const found = [...this.#routes.values()].find((one) => one.fills(slot));
        return found && !found.isArrived ? found.arrived : undefined;
      },
      filter: (place) => this.#extensions.needed(place),
      secrets: (requests) => this.#secrets.awaited(requests),
      rest: () => (this.#routesToCome.names.length > 0 ? this.#routesToCome.settled() : undefined),
    };
    this.#listeners =
      plan.lds &&
      new ListenerSubscription(plan.lds, native, plan.context, {
        ...this.#host,
        needsOf: (change) => needsOf(change, needs),
        clusterNames: () => this.#clusterNames(),
        isStarted: () => this.#isStarted,
        onRoutes: () => {
          this.#followRoutes();
          this.#beginExtensions();
        },
        onSockets: () => {
          this.#secrets.tellUntaken();
          this.#followSockets();
          this.#followExtensions();
        },
      });
  }

  /**
   * In the order of the real server: the runtime, hosts of static clusters and secrets, clusters of
   * CDS with their hosts (`onClusters`), routes and listeners. Resolves when all of it has come, or is
   * not waited for any longer.
   */
  async start(onClusters: () => Promise<void>): Promise<void> {
    // Control planes may be behind them.
    this.#secrets.start();
    const hosts = [...this.#hosts.endpoints.values()];
    this.#hosts.showWarming(this.#clusterTls);
    for (const one of hosts) if (one.isOfFile) one.start();
    await this.#targets.settled();
    if (this.#isStopped) return;
    this.#planes.open();
    for (const one of this.#layers) one.start();
    await this.#targets.settled();
    if (this.#isStopped) return;
    for (const one of hosts) if (!one.isOfFile) one.start();
    this.#extensions.startOfClusters();
    await this.#targets.settled();
    if (this.#isStopped) return;
    this.#clusters?.start();
    await this.#targets.settled();
    await onClusters();
    this.#areClustersReady = true;
    if (this.#isStopped) return;
    for (const one of this.#listenerTls) this.#secrets.add(one);
    this.#secrets.startOfListeners();
    // As the real server: routes are asked for together, after all else.
    this.#planes.hold(RDS, true);
    for (const one of this.#routes.values()) this.#startRoutes(one);
    for (const one of this.#scopes.values()) one.start(this.#routesToCome.add('scopes'));
    this.#extensions.start();
    this.#listeners?.start();
    this.#planes.hold(RDS, false);
    await this.#routesToCome.settled();
    await this.#targets.settled();
    this.#isStarted = true;
  }

  /** What listeners wait for, or the start, as /init_dump calls it; undefined: nobody has been asked yet. */
  get unready(): readonly string[] | undefined {
    if (!this.#areClustersReady) return undefined;
    return this.#targets.names.filter((name) => name !== LISTENERS);
  }

  stop(): void {
    this.#isStopped = true;
    for (const one of this.#layers) one.stop();
    this.#listeners?.stop();
    this.#hosts.stop();
    for (const one of this.#routes.values()) one.stop();
    for (const one of this.#scopes.values()) one.stop();
    this.#extensions.stop();
    this.#demands.stop();
    this.#clusters?.stop();
    this.#secrets.stop();
    this.#planes.stop();
  }

  /** The certificates of all transport sockets. */
  tlsFiles(): TlsFiles[] {
    const others = this.#areClustersReady ? [] : this.#listenerTls;
    const whole = others.filter(({ recipe }) => !recipe).map(({ files }) => files);
    return [...this.#secrets.files, ...whole];
  }

  secrets(): DynamicSecret[] {
    return this.#secrets.current;
  }

  /** By the name of their scopes. */
  scopes(): readonly {
    readonly name: string;
    readonly version: string;
    /** False: they are waited for. */
    readonly hasCome: boolean;
    readonly all: readonly DynamicScope[];
  }[] {
    return [...this.#scopes.values()].map(({ name, version, hasCome, current }) => ({
      ...{ name, version, hasCome, all: current },
    }));
  }

  /** Of filters that come by ECDS, or may. */
  get kindsOfExtensions(): ReadonlySet<DiscoveredKind> {
    return this.#extensions.kinds;
  }

  extensions(): DynamicExtension[] {
    return this.#extensions.current;
  }

  /** Those that have come. */
  routes(): readonly DynamicRoutes[] {
    const all = [...this.#routes.values()].filter(({ written }) => !written);
    return all.flatMap(({ current }) => current ?? []);
  }

  /** Of a listener's own, what VHDS has made of it; undefined: it adds nothing to it. */
  writtenRoutes(written: object): DynamicRoutes | undefined {
    const text = JSON.stringify(written);
    const all = [...this.#routes.values()];
    return all.find((one) => one.written && JSON.stringify(one.written) === text)?.current;
  }

  /** Undefined: the cluster that is in use is not of the type EDS, or there is none. */
  endpointsOf(cluster: string): DynamicEndpoints | undefined {
    const found = this.#hosts.endpointsInUse(cluster);
    return found && { serviceName: found.serviceName, assignment: found.current };
  }

  /** Pairs in a row: a cluster, and what its hosts are called in EDS where that is another name. */
  serviceNames(): string[] {
    return this.#hosts.clustersOfEds.flatMap((cluster) => {
      const { message } = this.replaced(cluster) ?? {};
      const { serviceName = '' } = this.#hosts.endpoints.get(cluster) ?? {};
      const shown = message ? (message.eds_cluster_config?.service_name ?? '') : serviceName;
      return shown === '' ? [] : [cluster, shown];
    });
  }

  /** Those of CDS, and the version of its latest update. */
  clusters(): { readonly version: string; readonly all: readonly DynamicCluster[] } {
    return {
      version: this.#clusters?.version ?? '',
      all: [...(this.#clusters?.current ?? []), ...this.#demands.clusters],
    };
  }

  /** The hosts of a cluster of CDS are waited for. */
  isWarming(cluster: string): boolean {
    return this.#hosts.isWarming(cluster);
  }

  /** What is in use while that cluster of CDS waits; undefined: nothing. */
  replaced(cluster: string): DynamicCluster | undefined {
    return this.#clusters?.replaced(cluster);
  }

  /** Undefined: there is no LDS. */
  listeners(): DynamicListeners | undefined {
    const from = this.#listeners;
    if (!from) return undefined;
    const { version, warming, draining, refused, chains } = from;
    const rest = { version, draining, refused, chains };
    const active = [...from.current];
    if (this.#isStarted) return { ...rest, active, warming, early: [] };
    // As in the real server, whose workers have none of them yet.
    return { ...rest, active: [], warming: [...active, ...warming], early: warming };
  }

  /** One could not listen as workers started. False: it came by other ways. */
  dropListener(name: string): boolean {
    return this.#listeners?.drop(name) ?? false;
  }

  /** Listeners may listen again. */
  refreshListeners(): void {
    this.#listeners?.refresh();
  }

  #askForHost(name: string): boolean {
    // Names of route configurations may have slashes of their own.
    const owners = [...this.#routes.values()].filter((one) => name.startsWith(`${one.name}/`));
    return owners.map((one) => one.ask(name)).includes(true);
  }

  #askForRoutes(table: string, onDone: () => void): boolean {
    for (const one of this.#scopes.values()) one.ask(table);
    const routes = [...this.#routes.values()].find((one) => one.fills(table));
    // Somebody else may have asked for them, and wait.
    if (!routes || routes.isArrived) return false;
    unawaited('routes on demand', routes.arrived.then(onDone));
    return true;
  }

  #clusterNames(): ReadonlySet<string> {
    const dynamic = [...(this.#clusters?.current ?? [])].map(({ message }) => message.name ?? '');
    return new Set([...this.#context.clusterNames, ...dynamic]);
  }

  /** Those that are wanted are asked for; those that nobody wants any more end. */
  #followRoutes(): void {
    const scopes = new Set(this.#context.routes.scopes);
    for (const [plan, subscription] of this.#scopes) {
      if (scopes.has(plan)) continue;
      this.#scopes.delete(plan);
      subscription.end();
    }
    for (const plan of scopes) {
      if (!this.#scopes.has(plan)) this.#addScopes(plan).start(this.#routesToCome.add('scopes'));
    }
    const wanted = new Set(this.#context.routes.requests);
    for (const [plan, subscription] of this.#routes) {
      if (wanted.has(plan)) continue;
      subscription.end();
      this.#routes.delete(plan);
    }
    for (const plan of wanted) {
      const known = this.#routes.get(plan);
      if (known) known.fillNewTables();
      else this.#startRoutes(this.#addRoutes(plan));
    }
  }

  #startRoutes(one: RouteSubscription): void {
    one.start(this.#routesToCome.add('routes'));
  }

  #addScopes(plan: SrdsPlan): ScopeSubscription {
    const one = new ScopeSubscription(plan, this.#native, this.#context, this.#host, {
      onRoutes: () => this.#followRoutes(),
      clusterNames: () => this.#clusterNames(),
    });
    this.#scopes.set(plan, one);
    return one;
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
    const placed = new Set(this.#listeners?.placedChains.flatMap(({ sockets }) => sockets));
    for (const socket of placed) if (!this.#placed.has(socket)) this.#secrets.refill(socket);
    this.#placed = placed;
  }

  /** Filters of listeners that are to come are asked for. */
  #beginExtensions(): void {
    for (const one of this.#listeners?.discovered.warming ?? []) {
      if (!this.#discovered.has(one)) this.#extensions.add(one);
      this.#discovered.add(one);
    }
  }

  /** Filters of listeners that have come and gone. */
  #followExtensions(): void {
    const { placed = [], warming = [] } = this.#listeners?.discovered ?? {};
    const wanted = new Set([...placed, ...warming]);
    for (const one of wanted) if (!this.#discovered.has(one)) this.#extensions.add(one);
    for (const one of this.#discovered) if (!wanted.has(one)) this.#extensions.remove(one);
    this.#discovered = wanted;
    this.#extensions.fill(placed.filter((one) => !this.#filled.has(one)));
    this.#filled = new Set(placed);
  }
}
