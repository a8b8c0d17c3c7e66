// What the bootstrap does not say itself: hosts that DNS knows, routes and hosts that files have.
import { unawaited } from '../base/bugs.js';
import type { Options } from '../options/parse.js';
import type { Log } from '../logging/logger.js';
import type { NativeProxy } from '../native.js';
import type { DnsClusterPlan } from '../plan/cluster/dns-cluster.js';
import type { CompiledRest } from '../plan/compile.js';
import type { Drain } from '../lifecycle/drain.js';
import { encodeUpdate } from '../plan/plan.gen.js';
import type { ControlStats } from '../stats/control-stats.js';
import type { envoy_config_core_v3_Node as Node } from '../../build/messages.gen.js';
import type { GrpcClients } from '../grpc/clients.js';
import type { Runtime } from '../runtime/runtime.js';
import { nodeBytes, type Sender } from '../stats/node-bytes.js';
import type { Xds, XdsHost } from '../xds/xds.js';
import { senderOf } from './sender.js';
import { describeRefusal } from './refusal.js';
import type { DnsMonitor } from './dns/dns.js';

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
  #makeMonitor: ((plan: DnsClusterPlan) => DnsMonitor) | undefined;
  #xds: Xds | undefined;
  #clients: GrpcClients | undefined;
  #isStopped = false;

  constructor(compiled: CompiledRest, host: DiscoveryHost) {
    this.#compiled = compiled;
    this.#host = host;
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
    await this.#prepareDns();
    for (const plan of this.#compiled.dnsClusters) this.#followDns(plan);
    const xds = await this.#makeXds();
    // Control planes may be there.
    if (this.#compiled.ads || hasServer(this.#compiled)) await Promise.all(this.#answers ?? []);
    if (xds && !this.#isStopped) await xds.start(() => this.#clustersReady());
    else await this.#clustersReady();
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
    this.#xds?.stop();
  }

  async #makeXds(): Promise<Xds | undefined> {
    const { eds, cds, lds, tls, ads, rtds, context } = this.#compiled;
    const hasSecrets = tls.some(({ recipe }) => recipe !== undefined);
    const hasRoutes = context.routes.requests.length > 0;
    const isEmpty = eds.length === 0 && rtds.length === 0 && !cds && !lds && !ads;
    if (!hasRoutes && !hasSecrets && isEmpty) return undefined;
    const { Xds } = await import('../xds/xds.js');
    if (this.#isStopped) return undefined;
    const { native, stats, log, options, drain, node, runtime } = this.#host;
    this.#xds = new Xds({ eds, cds, lds, tls, ads, rtds, context }, native, {
      unknownFields: unknownFields(options),
      stats,
      log: (level, message) => log.write(level, 'config', message),
      drain: drain.options,
      mayListen: (direction) =>
        !this.#host.isSucceeded && !drain.isStopped(direction === 'INBOUND' ? 'inbound' : 'all'),
      followDns: (plan) => this.#followDns(plan),
      forgetDns: (cluster) => this.#forgetDns(cluster),
      useLayer: (name, values) => runtime.useLayer(name, values),
      node: nodeOf(senderOf(node, options)),
      clients: async () => {
        const { GrpcClients } = await import('../grpc/clients.js');
        return (this.#clients ??= new GrpcClients(native, stats));
      },
    });
    return this.#xds;
  }

  /** Loaded only where a cluster may need it. */
  async #prepareDns(): Promise<void> {
    const { dnsClusters, cds } = this.#compiled;
    if (dnsClusters.length === 0 && !cds) return;
    const { DnsMonitor, QuestionCounts } = await import('./dns/dns.js');
    const { native, stats, log } = this.#host;
    const questions = new QuestionCounts(stats);
    this.#makeMonitor = (plan) => {
      const prefix = native.clusterPrefix(plan.name) ?? '';
      return new DnsMonitor(plan, {
        onHosts: (assignment) => {
          for (const error of native.apply(encodeUpdate({ assignments: [assignment] }))) {
            log.error('upstream', describeRefusal(error));
          }
          if (plan.kind === 'logical') return;
          const weights = assignment.hosts?.map(({ weight }) => weight ?? 1) ?? [];
          stats.setGauge(`${prefix}max_host_weight`, Math.max(1, ...weights));
        },
        questions,
        count: (stat) => stats.count(`${prefix}${stat}`),
        log: (level, message) => log.write(level, 'dns', message),
      });
    };
  }

  #followDns(plan: DnsClusterPlan): void {
    const monitor = this.#isStopped ? undefined : this.#makeMonitor?.(plan);
    if (!monitor) return;
    this.#monitors.set(plan.name, monitor);
    const answer = monitor.start();
    if (this.#answers) this.#answers.push(answer);
    else unawaited(`the hosts of ${plan.name}`, answer);
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
  const json = {
    ...sender.node,
    user_agent_name: 'envoy',
    user_agent_build_version: sender.build,
    extensions: sender.extensions.map(({ name, category, isDisabled, type }) => ({
      ...{ name, category },
      ...(isDisabled && { disabled: true }),
      type_urls: [type],
    })),
  };
  return {
    get bytes() {
      return (bytes ??= nodeBytes(sender));
    },
    json,
  };
}

/** What becomes of fields that nobody knows in what comes while the server runs. */
function unknownFields(options: Options): 'refused' | 'told' | 'passed over' {
  if (options.rejectUnknownDynamicFields) return 'refused';
  return options.ignoreUnknownDynamicFields ? 'passed over' : 'told';
}
