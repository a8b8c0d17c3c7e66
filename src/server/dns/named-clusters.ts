// Names that are clusters: each is made when it is first asked for, and goes when nobody asks for it any
// more.
import { unawaited } from '../../base/bugs.js';
import { startTimeout } from '../../base/timers.js';
import type { ClusterNamesPlan, NamedCluster } from '../../plan/cluster/cluster-plan.js';
import type { NameHooks } from './host-names.js';
import { joinName, splitName } from './name-text.js';

export interface NamedClustersHost {
  /** Resolves when it has hosts, or it is known that it has none. */
  addCluster(made: NamedCluster): Promise<void>;
  removeCluster(name: string): void;
  /** Since somebody asked for a name. */
  nameAgeMs(cache: string, name: string): number;
}

interface Member {
  readonly cluster: string;
  isReady: boolean;
  timer: NodeJS.Timeout | undefined;
}

export class NamedClusters {
  readonly #plan: ClusterNamesPlan;
  readonly #host: NamedClustersHost;
  readonly #hooks: NameHooks;
  /** By name. */
  readonly #members = new Map<string, Member>();
  #isStopped = false;

  constructor(plan: ClusterNamesPlan, host: NamedClustersHost, hooks: NameHooks) {
    this.#plan = plan;
    this.#host = host;
    this.#hooks = hooks;
  }

  get key(): string {
    return this.#plan.cache.name ?? '';
  }

  start(): void {
    for (const name of this.#plan.atOnce) this.look(joinName(name));
  }

  stop(): void {
    this.#isStopped = true;
    for (const { cluster, timer } of this.#members.values()) {
      clearTimeout(timer);
      this.#host.removeCluster(cluster);
    }
    this.#members.clear();
  }

  look(name: string): void {
    const known = this.#members.get(name);
    if (known) {
      if (known.isReady) this.#hooks.onAnswer({ cache: this.key, name });
      return;
    }
    const made = this.#plan.compile(splitName(name));
    if (!made) return;
    const cluster = made.plan.cluster.name ?? '';
    const member: Member = { cluster, isReady: false, timer: undefined };
    this.#members.set(name, member);
    unawaited(`the cluster of ${name}`, this.#add(name, member, made));
  }

  async #add(name: string, member: Member, made: NamedCluster): Promise<void> {
    await this.#host.addCluster(made);
    if (this.#isStopped || this.#members.get(name) !== member) return;
    member.isReady = true;
    this.#hooks.onAnswer({ cache: this.key, name });
    this.#watch(name, member);
  }

  #watch(name: string, member: Member): void {
    const { ttlMs } = this.#plan;
    member.timer = startTimeout(() => {
      if (this.#host.nameAgeMs(this.key, name) < ttlMs) {
        this.#watch(name, member);
        return;
      }
      this.#members.delete(name);
      this.#hooks.onAnswer({ cache: this.key, name, is_removed: true });
      this.#host.removeCluster(member.cluster);
    }, ttlMs);
    member.timer.unref();
  }
}
