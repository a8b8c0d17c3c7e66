// What the bootstrap does not say itself: hosts that DNS knows, routes and hosts that files have.
import { unawaited } from '../base/bugs.js';
import { atMost } from '../base/patience.js';
import type { Options } from '../options/parse.js';
import type { Log } from '../logging/logger.js';
import type { NativeProxy } from '../native.js';
import type { DnsClusterPlan } from '../plan/cluster/dns-cluster.js';
import type { Level } from '../logging/levels.js';
import type { CompiledRest } from '../plan/compiled.js';
import type { StreamPlan } from '../plan/sources.js';
import type { Drain } from '../lifecycle/drain.js';
import { encodeUpdate } from '../plan/plan.gen.js';
import type { ControlStats } from '../stats/control-stats.js';
import type {
  envoy_config_cluster_v3_Cluster as Cluster,
  envoy_config_core_v3_Node as Node,
} from '../../build/messages.gen.js';
import type { GrpcClients } from '../grpc/clients.js';
import type { AwsFetches } from '../credentials/aws.js';
import type { Tokens } from '../credentials/tokens.js';
import type { FileTexts } from './file-texts.js';
import type { JwksFetches } from '../jwks/jwks.js';
import type { Runtime } from '../runtime/runtime.js';
import { nodeBytes, type Sender } from '../stats/node-bytes.js';
import type { DynamicCluster } from '../xds/clusters.js';
import type { Xds, XdsHost } from '../xds/xds.js';
import { senderOf } from './sender.js';
import { describeRefusal } from './refusal.js';
import type { ClusterPlan } from '../plan/cluster/cluster.js';
import { Place } from '../plan/message/place.js';
import type { DnsMonitor } from './dns/dns.js';
import type { Names } from './dns/names.js';

/**
 * The real server waits for no token, and has one that comes at once before the first request: the start
 * gives them that long.
 */
const FIRST_TOKENS_MS = 250;

export interface DiscoveryHost {
  readonly options: Options;
  readonly native: NativeProxy;
  readonly stats: ControlStats;
  readonly log: Log;
  readonly drain: Drain;
  /** A successor has taken the listeners. */
  readonly isSucceeded: boolean;
  /** The bootstrap's. */
  readonly node: Node;
  readonly runtime: Runtime;
  /** All clusters have their hosts; listeners may still wait. */
  onClustersReady(): void;
}

export class Discovery {
  readonly #compiled: CompiledRest;
  readonly #host: DiscoveryHost;
  /** By cluster. */
  readonly #monitors = new Map<string, DnsMonitor>();
  /** First answers that the start waits for; undefined once it is over. */
  #answers: Promise<void>[] | undefined = [];
  #makeMonitor: ((plan: DnsClusterPlan, isHidden?: boolean) => DnsMonitor) | undefined;
  #names: Names | undefined;
  #services: readonly { stop(): void }[] = [];
  readonly #made = new Map<string, DynamicCluster>();
  #xds: Xds | undefined;
  #clients: GrpcClients | undefined;
  #jwks: JwksFetches | undefined;
  #tokens: Tokens | undefined;
  #aws: AwsFetches | undefined;
  #files: FileTexts | undefined;
  #isStopped = false;

  constructor(compiled: CompiledRest, host: DiscoveryHost) {
    this.#compiled = compiled;
    this.#host = host;
  }

  /** Clusters of names that requests have asked for. */
  get madeClusters(): Iterable<DynamicCluster> {
    return this.#made.values();
  }

  /** Undefined: nothing comes from elsewhere, or nobody has asked yet. */
  get xds(): Xds | undefined {
    return this.#xds;
  }

  /**
   * Resolves when what files have is in use, and each cluster that DNS feeds has had its first
   * answer, or a failure.
   */
  async start(): Promise<void> {
    await this.#followFiles();
    await this.#prepareDns();
    for (const plan of this.#compiled.dnsClusters) void this.#followDns(plan);
    this.#startHidden();
    await this.#startNames();
    await this.#startServices();
    const xds = await this.#makeXds();
    // Control planes may be there.
    const { ads, authorities } = this.#compiled;
    if (ads || authorities.length > 0 || hasServer(this.#compiled))
      await Promise.all(this.#answers ?? []);
    if (xds && !this.#isStopped) await xds.start(() => this.#clustersReady());
    else await this.#clustersReady();
    await this.#startJwks();
    await this.#startTokens();
    await this.#startAws();
  }

  /** Loaded only where formats may tell of files. */
  async #followFiles(): Promise<void> {
    const { context, cds, lds, discovered } = this.#compiled;
    const { requests, scopes } = context.routes;
    const mayCome = cds ?? lds ?? requests.length + scopes.length + discovered.length > 0;
    if (!context.live.has('file') && !mayCome) return;
    const { FileTexts } = await import('./file-texts.js');
    if (this.#isStopped) return;
    const { native, log } = this.#host;
    this.#files = new FileTexts(context.live, {
      native,
      log: (level, message) => log.write(level, 'config', message),
    });
  }

  /** Likewise, of credentials of AWS. Requests wait for them by themselves. */
  async #startAws(): Promise<void> {
    const { context, lds } = this.#compiled;
    if (!context.live.has('aws') && !lds) return;
    const { AwsFetches } = await import('../credentials/aws.js');
    if (this.#isStopped) return;
    const { native, stats, log } = this.#host;
    this.#aws = new AwsFetches(context.live, {
      ...{ native, stats, clusters: context.grpcClusters },
      addCluster: (message) => this.#addServiceCluster(message),
      log: (level, message) => log.write(level, 'aws', message),
    });
    this.#aws.start();
  }

  /** Loaded only where tokens may be wanted. */
  async #startTokens(): Promise<void> {
    const { context, lds } = this.#compiled;
    if (!context.live.has('token') && !lds) return;
    const { Tokens } = await import('../credentials/tokens.js');
    if (this.#isStopped) return;
    const { native, stats, log } = this.#host;
    this.#tokens = new Tokens(context.live, {
      ...{ native, stats },
      log: (level, message) => log.write(level, 'credential_injector', message),
    });
    await atMost(FIRST_TOKENS_MS, this.#tokens.start());
  }

  /** Loaded only where keys of issuers may be wanted. */
  async #startJwks(): Promise<void> {
    const { jwks, lds } = this.#compiled;
    if (jwks.entries().length === 0 && !lds) return;
    const { JwksFetches } = await import('../jwks/jwks.js');
    if (this.#isStopped) return;
    const { native, stats, log } = this.#host;
    this.#jwks = new JwksFetches(jwks, {
      ...{ native, stats },
      log: (level, message) => log.write(level, 'jwt', message),
    });
    await this.#jwks.start();
  }

  async #clustersReady(): Promise<void> {
    await Promise.all(this.#answers ?? []);
    this.#answers = undefined;
    await this.#host.native.awaitChecks();
    if (this.#isStopped) return;
    this.#host.log.info('upstream', 'cm init: all clusters initialized');
    this.#host.onClustersReady();
  }

  stop(): void {
    this.#isStopped = true;
    for (const monitor of this.#monitors.values()) monitor.stop();
    this.#names?.stop();
    for (const service of this.#services) service.stop();
    this.#xds?.stop();
    this.#clients?.close();
    this.#jwks?.stop();
    this.#tokens?.stop();
    this.#aws?.stop();
    this.#files?.stop();
  }

  async #makeXds(): Promise<Xds | undefined> {
    const { eds, cds, lds, tls, ads, rtds, context, discovered } = this.#compiled;
    const { compileClusterLater, authorities, listenerTls } = this.#compiled;
    const { routes, clusterSources, live } = context;
    const hasSecrets =
      live.has('secret') ||
      [...tls.map(({ socket }) => socket), ...listenerTls].some(
        ({ recipe }) => recipe !== undefined,
      );
    const hasRoutes =
      routes.requests.length > 0 ||
      routes.scopes.length > 0 ||
      discovered.length > 0 ||
      !clusterSources.isEmpty;
    const hasStreams = ads !== undefined || authorities.length > 0;
    const isEmpty = eds.length === 0 && rtds.length === 0 && !cds && !lds && !hasStreams;
    if (!hasRoutes && !hasSecrets && isEmpty) return undefined;
    const { Xds } = await import('../xds/xds.js');
    if (this.#isStopped) return undefined;
    const { native, stats, log, options, drain, node, runtime } = this.#host;
    const plan = {
      ...{ eds, cds, lds, tls, listenerTls, ads, authorities, rtds, context, discovered },
      compileClusterLater,
    };
    this.#xds = new Xds(plan, native, {
      unknownFields: unknownFields(options),
      stats,
      log: (level, message) => log.write(level, 'config', message),
      drain: drain.options,
      mayListen: (direction) =>
        !this.#host.isSucceeded && !drain.isStopped(direction === 'INBOUND' ? 'inbound' : 'all'),
      followDns: (plan) => this.#followDns(plan),
      forgetDns: (cluster) => this.#forgetDns(cluster),
      followNames: (plan) => this.#names?.follow(plan),
      forgetNames: (cluster) => this.#names?.forget(cluster),
      useLayer: (name, values) => runtime.useLayer(name, values),
      node: nodeOf(senderOf(node, options)),
      clients: () => this.#grpcClients(),
    });
    return this.#xds;
  }

  async #grpcClients(): Promise<GrpcClients> {
    const { GrpcClients } = await import('../grpc/clients.js');
    // A control plane is about to be asked again: its cluster is the bootstrap's, and stays.
    return (this.#clients ??= new GrpcClients(this.#host.native, this.#host.stats, true));
  }

  /** Those that are told how hosts do. */
  async #startServices(): Promise<void> {
    const { loadReports, healthDiscovery, context } = this.#compiled;
    if (!loadReports && !healthDiscovery) return;
    const { LoadReporter } = await import('../xds/load-reporter.js');
    const { HealthDiscovery } = await import('../xds/health-discovery.js');
    if (this.#isStopped) return;
    const { native, stats, log, options, node } = this.#host;
    const partsOf = (plan: StreamPlan, component: 'upstream' | 'hc') => ({
      native,
      stats,
      log: (level: Level, message: string) => log.write(level, component, message),
      node: nodeOf(senderOf(node, options)).bytes,
      makeClient: async () => (await this.#grpcClients()).make(plan.service),
    });
    const services = [
      ...(loadReports
        ? [
            new LoadReporter({
              ...partsOf(loadReports, 'upstream'),
              clusters: () => this.#reported(context.clusterNames),
            }),
          ]
        : []),
      ...(healthDiscovery
        ? [
            new HealthDiscovery({
              ...partsOf(healthDiscovery.stream, 'hc'),
              compile: healthDiscovery.compile,
            }),
          ]
        : []),
    ];
    this.#services = services;
    for (const service of services) unawaited('a service that is told of hosts', service.start());
  }

  #reported(names: ReadonlySet<string>): { name: string; serviceName: string }[] {
    const dynamic = this.#xds?.clusters().all.map(({ message }) => message.name ?? '') ?? [];
    return [...new Set([...names, ...dynamic])].map((name) => ({
      name,
      serviceName: this.#xds?.endpointsOf(name)?.serviceName ?? '',
    }));
  }

  /** Loaded only where a cluster may need it. */
  async #prepareDns(): Promise<void> {
    const { dnsClusters, hiddenDns, cds, lds, named } = this.#compiled;
    const hasNone = dnsClusters.length === 0 && hiddenDns.length === 0 && named.length === 0;
    if (hasNone && !cds && !lds) return;
    const { DnsMonitor, QuestionCounts } = await import('./dns/dns.js');
    const { native, stats, log } = this.#host;
    const questions = new QuestionCounts(stats);
    // The gRPC library would ask by itself.
    const unseen = { begins: () => undefined, ends: () => undefined, refused: () => undefined };
    this.#makeMonitor = (plan, isHidden = false) => {
      const prefix = native.clusterPrefix(plan.name) ?? '';
      return new DnsMonitor(plan, {
        onHosts: (assignment) => {
          for (const error of native.apply(encodeUpdate({ assignments: [assignment] }))) {
            log.error('upstream', describeRefusal(error));
          }
        },
        onMaxWeight: (weight) => {
          if (!isHidden) stats.setGauge(`${prefix}max_host_weight`, weight);
        },
        questions: isHidden ? unseen : questions,
        count: (stat) => {
          if (!isHidden) stats.count(`${prefix}${stat}`);
        },
        log: (level, message) => log.write(level, 'dns', message),
      });
    };
  }

  /** Hosts that requests name, where there are any, or may be. */
  async #startNames(): Promise<void> {
    const { named, context, cds, lds } = this.#compiled;
    if (context.names.hosts.length === 0 && !cds && !lds) return;
    const { Names } = await import('./dns/names.js');
    const { QuestionCounts } = await import('./dns/dns.js');
    if (this.#isStopped) return;
    const { native, stats, log } = this.#host;
    this.#names = new Names(context.names, {
      native,
      stats,
      questions: new QuestionCounts(stats),
      log: (level, message) => log.write(level, 'forward_proxy', message),
      addCluster: ({ plan, message }) => {
        this.#made.set(message.name ?? '', { version: '', message, updatedMs: Date.now() });
        return this.#addCluster(plan);
      },
      removeCluster: (name) => {
        this.#made.delete(name);
        this.#forgetDns(name);
        native.apply(encodeUpdate({ removed_clusters: [name] }));
      },
      nameAgeMs: (cache, name) => native.nameAge(cache, name),
    });
    for (const plan of named) this.#names.follow(plan);
    await this.#names.start();
  }

  async #addCluster({ cluster, assignment, dns }: ClusterPlan): Promise<void> {
    const update = encodeUpdate({
      clusters: [{ ...cluster, added_via_api: true }],
      assignments: assignment ? [assignment] : [],
    });
    for (const error of this.#host.native.apply(update)) {
      this.#host.log.error('upstream', describeRefusal(error));
    }
    if (dns) await this.#beginDns(dns);
  }

  /** As the real server: one of a service of its own is shown among those of CDS, and stays. */
  #addServiceCluster(message: Cluster): void {
    const { context, compileClusterLater } = this.#compiled;
    const { name = '' } = message;
    if (context.grpcClusters.has(name)) return;
    const plan = compileClusterLater(message, Place.root([]));
    if (!plan) return;
    context.grpcClusters.set(name, plan.control);
    this.#made.set(name, { version: '', message, updatedMs: Date.now() });
    unawaited(`the cluster ${name}`, this.#addCluster(plan));
  }

  /** Clusters that no configuration has: only who asks them waits for their hosts. */
  #startHidden(): void {
    const follow = (plan: DnsClusterPlan): void => {
      const answer = this.#beginDns(plan, true);
      if (!answer) return;
      const { native } = this.#host;
      native.setWarming(plan.name, true);
      const known = answer.finally(() => native.setWarming(plan.name, false));
      unawaited('the hosts of a service', known);
    };
    for (const plan of this.#compiled.hiddenDns) follow(plan);
    this.#compiled.context.hiddenClusters.follow(({ cluster, assignment, dns }) => {
      const update = encodeUpdate({
        clusters: [cluster],
        assignments: assignment ? [assignment] : [],
      });
      for (const error of this.#host.native.apply(update)) {
        this.#host.log.error('upstream', describeRefusal(error));
      }
      if (dns) follow(dns);
    });
  }

  #beginDns(plan: DnsClusterPlan, isHidden = false): Promise<void> | undefined {
    const monitor = this.#isStopped ? undefined : this.#makeMonitor?.(plan, isHidden);
    if (!monitor) return undefined;
    this.#monitors.set(plan.name, monitor);
    return monitor.start();
  }

  #followDns(plan: DnsClusterPlan): Promise<void> | undefined {
    const answer = this.#beginDns(plan);
    if (!answer) return undefined;
    if (this.#answers) this.#answers.push(answer);
    else unawaited(`the hosts of ${plan.name}`, answer);
    return answer;
  }

  #forgetDns(cluster: string): void {
    this.#monitors.get(cluster)?.stop();
    this.#monitors.delete(cluster);
  }
}

/** Something of the bootstrap is asked of a control plane. */
function hasServer({ eds, cds, lds, rtds }: CompiledRest): boolean {
  const all = [...eds, ...rtds, ...(cds ? [cds] : []), ...(lds ? [lds] : [])];
  return all.some(({ source }) => source.kind !== 'file');
}

/** Who this server is to control planes. */
function nodeOf(sender: Sender): XdsHost['node'] {
  let bytes: Uint8Array | undefined;
  return {
    get bytes() {
      return (bytes ??= nodeBytes(sender));
    },
    json: { ...sender.node },
  };
}

/** What becomes of fields that nobody knows in what comes while the server runs. */
function unknownFields(options: Options): 'refused' | 'told' | 'passed over' {
  if (options.rejectUnknownDynamicFields) return 'refused';
  return options.ignoreUnknownDynamicFields ? 'passed over' : 'told';
}
