// Keeps the hosts of a cluster up to date with what DNS says: strict clusters have a host for each
// address, logical ones a single host whose address changes.
import type { DnsClusterPlan } from '../../plan/cluster/dns-cluster.js';
import { parseIp } from '../../plan/address/ip.js';
import type { Assignment, Host } from '../../plan/plan.gen.js';
import { DnsTarget, type DnsStat } from './dns-target.js';
import { NameResolver, resolverOf, type DnsQuestions } from './name-resolver.js';

export type { DnsStat } from './dns-target.js';
export { QuestionCounts } from './question-counts.js';

export interface DnsHooks {
  /** All hosts of the cluster, when they changed. */
  onHosts(assignment: Assignment): void;
  /**
   * The heaviest host of the endpoint whose name was answered last: of the others the real server's
   * gauge says nothing. Not of logical clusters.
   */
  onMaxWeight(weight: number): void;
  /** A statistic of the cluster goes up by one. */
  count(stat: DnsStat): void;
  log(level: 'debug' | 'warning', message: string): void;
  /** Those of all clusters. */
  readonly questions: DnsQuestions;
}

export interface DnsMonitorOptions {
  /** Absent: the system's, shared by all clusters. */
  readonly resolver?: NameResolver;
  readonly random?: () => number;
}

export class DnsMonitor {
  readonly #plan: DnsClusterPlan;
  readonly #hooks: DnsHooks;
  readonly #options: DnsMonitorOptions;
  #targets: readonly DnsTarget[] = [];
  #resolveStarted: (() => void) | undefined;
  /** Where the cluster says who is asked. */
  #own: NameResolver | undefined;

  constructor(plan: DnsClusterPlan, hooks: DnsHooks, options: DnsMonitorOptions = {}) {
    this.#plan = plan;
    this.#hooks = hooks;
    this.#options = options;
  }

  /** Resolves as soon as one name of the cluster was answered, or failed. */
  start(): Promise<void> {
    if (this.#plan.endpoints.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resolveStarted = resolve;
      const own = this.#plan.resolver && resolverOf(this.#plan.resolver);
      this.#own = own;
      const resolver = this.#options.resolver ?? own ?? systemResolver.acquire();
      this.#targets = this.#plan.endpoints.map(
        ({ hostname }, index) =>
          new DnsTarget(hostname, this.#plan, resolver, {
            onChange: () => this.#hooks.onHosts(this.#assignment()),
            onAnswer: () => this.#tellMaxWeight(index),
            onFirstAnswer: resolve,
            count: (stat) => this.#hooks.count(stat),
            log: (level, message) => this.#hooks.log(level, message),
            questions: this.#hooks.questions,
            random: this.#options.random ?? Math.random,
          }),
      );
      for (const target of this.#targets) target.start();
    });
  }

  /** No hook is called afterwards. */
  stop(): void {
    if (this.#targets.length === 0) return;
    for (const target of this.#targets) target.stop();
    this.#targets = [];
    this.#own?.cancel();
    if (this.#options.resolver === undefined && !this.#own) systemResolver.release();
    this.#resolveStarted?.();
  }

  #tellMaxWeight(index: number): void {
    if (this.#plan.kind === 'logical') return;
    const hasHosts = this.#targets[index]!.addresses.length > 0;
    this.#hooks.onMaxWeight(hasHosts ? (this.#plan.endpoints[index]!.host.weight ?? 1) : 1);
  }

  #assignment(): Assignment {
    return {
      cluster_name: this.#plan.name,
      hosts: this.#plan.endpoints.flatMap(({ host, port, checkPort = 0 }, index) => {
        const { addresses } = this.#targets[index]!;
        const all = addresses.map((address) => ({ ip: parseIp(address)!, port }));
        const isOne = this.#plan.kind === 'logical';
        return (isOne ? all.slice(0, 1) : all).map((address): Host => {
          const check = checkPort > 0 ? { check_address: { ip: address.ip, port: checkPort } } : {};
          const tried = isOne && all.length > 1 ? { tried_addresses: all } : {};
          return { ...host, address, ...check, ...tried };
        });
      }),
      ...this.#plan.policy,
    };
  }
}

/** One resolver, with its sockets, for all clusters; questions end with the last of them. */
class SharedResolver {
  #resolver: NameResolver | undefined;
  #users = 0;

  acquire(): NameResolver {
    this.#users += 1;
    this.#resolver ??= new NameResolver();
    return this.#resolver;
  }

  release(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#resolver?.cancel();
    this.#resolver = undefined;
  }
}

const systemResolver = new SharedResolver();
