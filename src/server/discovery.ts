// What the bootstrap does not say itself: hosts that DNS knows, routes and hosts that files have.
import { unawaited } from '../base/bugs.js';
import type { Options } from '../options/parse.js';
import type { Log } from '../logging/logger.js';
import type { NativeProxy } from '../native.js';
import type { DnsClusterPlan } from '../plan/cluster/dns-cluster.js';
import type { CompiledBootstrap } from '../plan/compile.js';
import type { Drain } from '../lifecycle/drain.js';
import { encodeUpdate } from '../plan/plan.gen.js';
import type { ControlStats } from '../stats/control-stats.js';
import type { Xds } from '../xds/xds.js';
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
}

export class Discovery {
  readonly #compiled: CompiledBootstrap;
  readonly #host: DiscoveryHost;
  /** By cluster. */
  readonly #monitors = new Map<string, DnsMonitor>();
  /** First answers that the start waits for; undefined once it is over. */
  #answers: Promise<void>[] | undefined = [];
  #makeMonitor: ((plan: DnsClusterPlan) => DnsMonitor) | undefined;
  #xds: Xds | undefined;
  #isStopped = false;

  constructor(compiled: CompiledBootstrap, host: DiscoveryHost) {
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
    await this.#subscribe();
    await Promise.all(this.#answers ?? []);
    this.#answers = undefined;
    this.#host.log.info('upstream', 'cm init: all clusters initialized');
  }

  stop(): void {
    this.#isStopped = true;
    for (const monitor of this.#monitors.values()) monitor.stop();
    this.#xds?.stop();
  }

  async #subscribe(): Promise<void> {
    const { eds, cds, lds, tls, context } = this.#compiled;
    const hasSecrets = tls.some(({ recipe }) => recipe !== undefined);
    const hasRoutes = context.routes.requests.length > 0;
    if (!hasRoutes && eds.length === 0 && !cds && !lds && !hasSecrets) return;
    const { Xds } = await import('../xds/xds.js');
    if (this.#isStopped) return;
    const { native, stats, log, options, drain } = this.#host;
    this.#xds = new Xds({ eds, cds, lds, tls, context }, native, {
      unknownFields: unknownFields(options),
      stats,
      log: (level, message) => log.write(level, 'config', message),
      drain: drain.options,
      mayListen: (direction) =>
        !this.#host.isSucceeded && !drain.isStopped(direction === 'INBOUND' ? 'inbound' : 'all'),
      followDns: (plan) => this.#followDns(plan),
      forgetDns: (cluster) => this.#forgetDns(cluster),
    });
    this.#xds.start();
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

/** What becomes of fields that nobody knows in what comes while the server runs. */
function unknownFields(options: Options): 'refused' | 'told' | 'passed over' {
  if (options.rejectUnknownDynamicFields) return 'refused';
  return options.ignoreUnknownDynamicFields ? 'passed over' : 'told';
}
