// One cache of hosts by their names: each is looked up when it is first asked for, and again and again as
// long as somebody asks for it.
import { unawaited } from '../../base/bugs.js';
import { startTimeout } from '../../base/timers.js';
import { parseIp } from '../../plan/address/ip.js';
import type { HostNamesPlan } from '../../plan/cluster/cluster-plan.js';
import type { Host, NameAnswer } from '../../plan/plan.gen.js';
import type { DnsAnswer } from './name-resolver.js';
import { joinName, splitName } from './name-text.js';

export type NameStat =
  | 'dns_query_attempt'
  | 'dns_query_failure'
  | 'dns_query_success'
  | 'dns_query_timeout'
  | 'host_added'
  | 'host_address_changed'
  | 'host_removed';

export interface NameHooks {
  /** Something of a name is other than before: also its host. */
  onAnswer(answer: NameAnswer): void;
}

export interface HostNamesHooks extends NameHooks {
  lookup(name: string): Promise<DnsAnswer>;
  count(stat: NameStat): void;
  setGauge(stat: 'num_hosts', value: number): void;
  /** Since somebody asked for it. */
  ageMs(name: string): number;
}

interface Entry {
  readonly name: string;
  addresses: readonly string[];
  /** Somebody may wait for the first answer. */
  isAnswered: boolean;
  nextBackoffMs: number;
  timer: NodeJS.Timeout | undefined;
}

type Outcome = DnsAnswer | { readonly kind: 'late' };

const WHERE = 'an answer to a name';
/** In the words of the real server's resolver. */
const REASONS: Readonly<Record<string, string>> = {
  ETIMEOUT: 'Timeout while contacting DNS servers',
  ECONNREFUSED: 'Could not contact DNS servers',
  ESERVFAIL: 'DNS server returned general failure',
  EREFUSED: 'DNS server refused query',
};

export class HostNames {
  readonly #plan: HostNamesPlan;
  readonly #hooks: HostNamesHooks;
  readonly #entries = new Map<string, Entry>();
  #isStopped = false;

  constructor(plan: HostNamesPlan, hooks: HostNamesHooks) {
    this.#plan = plan;
    this.#hooks = hooks;
  }

  /** Those that are known, in the order in which they were asked for. */
  get hosts(): readonly Host[] {
    return [...this.#entries.values()].flatMap((entry) => hostOf(entry) ?? []);
  }

  /** Resolves when what is to be known before anybody asks has been answered. */
  async start(): Promise<void> {
    await Promise.all(this.#plan.atOnce.map((name) => this.look(joinName(name))));
  }

  stop(): void {
    this.#isStopped = true;
    for (const { timer } of this.#entries.values()) clearTimeout(timer);
  }

  /** Resolves when it is answered. */
  look(name: string): Promise<void> {
    const known = this.#entries.get(name);
    if (known) {
      // Another worker had asked; this one hears what is known.
      if (known.isAnswered) this.#tell(known, known.addresses.length > 0 ? '' : NOT_FOUND);
      return Promise.resolve();
    }
    const { failureRefresh } = this.#plan;
    const entry: Entry = {
      name,
      addresses: [],
      isAnswered: false,
      nextBackoffMs: failureRefresh?.baseMs ?? 0,
      timer: undefined,
    };
    this.#entries.set(name, entry);
    this.#hooks.count('host_added');
    this.#showCount();
    const turn = this.#turn(entry);
    unawaited(WHERE, turn);
    return turn;
  }

  async #turn(entry: Entry): Promise<void> {
    this.#hooks.count('dns_query_attempt');
    const outcome = await this.#ask(splitName(entry.name).host);
    if (this.#isStopped || this.#entries.get(entry.name) !== entry) return;
    const isFailure = outcome.kind === 'failed' || outcome.kind === 'late';
    if (outcome.kind === 'late') this.#hooks.count('dns_query_timeout');
    this.#hooks.count(isFailure ? 'dns_query_failure' : 'dns_query_success');
    const found = outcome.kind === 'addresses' ? outcome.addresses : [];
    const isOther = found.length > 0 && !areSame(found, entry.addresses);
    if (isOther) {
      entry.addresses = found;
      this.#hooks.count('host_address_changed');
    }
    if (isOther || !entry.isAnswered) {
      entry.isAnswered = true;
      this.#tell(entry, entry.addresses.length > 0 ? '' : failureOf(outcome));
    }
    if (isFailure && this.#plan.forgetsFailures) {
      this.#remove(entry);
      return;
    }
    entry.timer = startTimeout(() => this.#again(entry), this.#nextMs(entry, outcome));
    entry.timer.unref();
  }

  async #ask(host: string): Promise<Outcome> {
    const answer = this.#hooks.lookup(host);
    const { queryTimeoutMs } = this.#plan;
    if (queryTimeoutMs === 0) return answer;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Outcome>((resolve) => {
      timer = startTimeout(() => resolve({ kind: 'late' }), queryTimeoutMs);
      timer.unref();
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #nextMs(entry: Entry, outcome: Outcome): number {
    const { refreshMs, minRefreshMs, failureRefresh } = this.#plan;
    if (outcome.kind === 'addresses') {
      entry.nextBackoffMs = failureRefresh?.baseMs ?? 0;
      return outcome.ttlMs > 0 ? Math.max(outcome.ttlMs, minRefreshMs) : refreshMs;
    }
    if (!failureRefresh) return refreshMs;
    const backoffMs = entry.nextBackoffMs;
    entry.nextBackoffMs = Math.min(backoffMs * 2, failureRefresh.maxMs);
    return Math.floor(Math.random() * backoffMs);
  }

  #again(entry: Entry): void {
    if (this.#hooks.ageMs(entry.name) > this.#plan.ttlMs) {
      this.#remove(entry);
      return;
    }
    unawaited(WHERE, this.#turn(entry));
  }

  #remove(entry: Entry): void {
    clearTimeout(entry.timer);
    this.#entries.delete(entry.name);
    this.#hooks.count('host_removed');
    this.#showCount();
    this.#hooks.onAnswer({ cache: this.#plan.cache.name, name: entry.name, is_removed: true });
  }

  #tell(entry: Entry, failure: string): void {
    this.#hooks.onAnswer({ cache: this.#plan.cache.name, name: entry.name, failure });
  }

  #showCount(): void {
    this.#hooks.setGauge('num_hosts', this.#entries.size);
  }
}

const NOT_FOUND = 'cares_norecords:Domain_name_not_found';

function failureOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'late':
      return 'resolve_timeout';
    case 'failed': {
      const { reason } = outcome;
      return `cares_failure:${REASONS[reason] ?? reason}`.replaceAll(' ', '_');
    }
    default:
      return NOT_FOUND;
  }
}

/** Undefined: it has no address. */
function hostOf({ name, addresses }: Entry): Host | undefined {
  const { port } = splitName(name);
  const all = addresses.map((address) => ({ ip: parseIp(address)!, port }));
  const [first] = all;
  if (!first) return undefined;
  return {
    address: first,
    hostname: name,
    weight: 1,
    is_named: true,
    ...(all.length > 1 && { tried_addresses: all }),
  };
}

/** The same addresses in another order change nothing. */
function areSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((address) => b.includes(address));
}
