// One name of a cluster: asks for it again and again, and knows its current addresses.
import { reportBug, unawaited } from '../../base/bugs.js';
import type { DnsClusterPlan } from '../../plan/cluster/dns-cluster.js';
import type { DnsQuestions, NameResolver } from './name-resolver.js';
import { startTimeout } from '../../base/timers.js';

const WHERE = 'an answer of DNS';

export type DnsStat =
  'update_attempt' | 'update_success' | 'update_failure' | 'update_empty' | 'update_no_rebuild';

export interface DnsTargetHooks {
  /** `addresses` are other ones than before. */
  onChange(): void;
  /** The name was answered, be it with what is known; after `onChange`. */
  onAnswer(): void;
  /** The first question was answered, or failed. */
  onFirstAnswer(): void;
  count(stat: DnsStat): void;
  log(level: 'debug' | 'warning', message: string): void;
  readonly questions: DnsQuestions;
  /** From 0 to 1, without 1. */
  random(): number;
}

export class DnsTarget {
  readonly hostname: string;
  readonly #plan: DnsClusterPlan;
  readonly #resolver: NameResolver;
  readonly #hooks: DnsTargetHooks;
  #addresses: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #nextBackoffMs: number;
  #isFailing = false;
  #hasStopped = false;

  constructor(
    hostname: string,
    plan: DnsClusterPlan,
    resolver: NameResolver,
    hooks: DnsTargetHooks,
  ) {
    this.hostname = hostname;
    this.#plan = plan;
    this.#resolver = resolver;
    this.#hooks = hooks;
    this.#nextBackoffMs = plan.failureRefresh?.baseMs ?? 0;
  }

  /** In the order of the answer that brought them. */
  get addresses(): readonly string[] {
    return this.#addresses;
  }

  start(): void {
    const first = this.#turn().then(() => {
      if (!this.#hasStopped) this.#hooks.onFirstAnswer();
    });
    unawaited(WHERE, first);
  }

  stop(): void {
    this.#hasStopped = true;
    clearTimeout(this.#timer);
  }

  /** Whatever comes of it, the name is asked for again. */
  async #turn(): Promise<void> {
    let nextMs = this.#plan.refreshMs;
    try {
      nextMs = await this.#resolve();
    } catch (thrown) {
      reportBug(WHERE, thrown);
    }
    if (this.#hasStopped) return;
    this.#timer = startTimeout(() => unawaited(WHERE, this.#turn()), nextMs);
    this.#timer.unref();
  }

  /** Returns when to ask again. */
  async #resolve(): Promise<number> {
    this.#hooks.count('update_attempt');
    const { lookup } = this.#plan;
    const answer = await this.#resolver.lookup(this.hostname, lookup, this.#hooks.questions);
    if (this.#hasStopped) return this.#plan.refreshMs;
    if (answer.kind === 'failed') return this.#fail(answer.reason);
    // A strict cluster loses its hosts when the name is gone; a logical one needs one.
    if (answer.kind === 'none' && this.#plan.kind === 'logical') return this.#fail('no such name');
    this.#succeed(answer.kind === 'addresses' ? answer.addresses : []);
    this.#hooks.onAnswer();
    const isKnown = answer.kind === 'addresses' && answer.ttlMs > 0;
    const { respectTtl, refreshMs, minRefreshMs = 0, jitterMs = 0 } = this.#plan;
    const nextMs = respectTtl && isKnown ? Math.max(answer.ttlMs, minRefreshMs) : refreshMs;
    return nextMs + Math.floor(this.#hooks.random() * jitterMs);
  }

  #succeed(addresses: readonly string[]): void {
    this.#hooks.count('update_success');
    this.#nextBackoffMs = this.#plan.failureRefresh?.baseMs ?? 0;
    this.#isFailing = false;
    // All addresses of a logical one are tried, one after the other, where it wants them all.
    const isOne = this.#plan.kind === 'logical' && this.#plan.lookup !== 'ALL';
    const wanted = isOne ? addresses.slice(0, 1) : addresses;
    if (areSame(wanted, this.#addresses)) {
      this.#hooks.count('update_no_rebuild');
      return;
    }
    const shown = wanted.length === 0 ? 'no address' : wanted.join(', ');
    this.#hooks.log('debug', `cluster ${this.#plan.name}: ${this.hostname} is ${shown}`);
    this.#addresses = wanted;
    this.#hooks.onChange();
  }

  /** Addresses stay. Returns when to ask again. */
  #fail(reason: string): number {
    this.#hooks.count('update_failure');
    // The first of several in a row is worth a warning.
    const level = this.#isFailing ? 'debug' : 'warning';
    this.#isFailing = true;
    const kept = this.#addresses.length > 0 ? `; keeping ${this.#addresses.join(', ')}` : '';
    this.#hooks.log(
      level,
      `cluster ${this.#plan.name}: cannot resolve ${this.hostname}: ${reason}${kept}`,
    );
    const { failureRefresh, refreshMs } = this.#plan;
    if (failureRefresh === undefined) return refreshMs;
    const backoffMs = this.#nextBackoffMs;
    this.#nextBackoffMs = Math.min(backoffMs * 2, failureRefresh.maxMs);
    return Math.floor(this.#hooks.random() * backoffMs);
  }
}

/** The same addresses in another order change nothing. */
function areSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((address) => b.includes(address));
}
