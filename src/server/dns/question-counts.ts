// Counts what the resolver is asked, as the real server counts what it asks c-ares.
import type { ControlStats } from '../../stats/control-stats.js';
import type { DnsAnswer, DnsQuestions } from './name-resolver.js';

export class QuestionCounts implements DnsQuestions {
  readonly #stats: ControlStats;
  #pending = 0;

  constructor(stats: ControlStats) {
    this.#stats = stats;
  }

  begins(): void {
    this.#stats.count('dns.cares.resolve_total');
    this.#showPending(1);
  }

  ends(answer: DnsAnswer): void {
    this.#showPending(-1);
    if (answer.kind === 'none') this.#stats.count('dns.cares.not_found');
    if (answer.kind !== 'failed') return;
    this.#stats.count('dns.cares.get_addr_failure');
    if (answer.reason === 'ETIMEOUT') this.#stats.count('dns.cares.timeouts');
  }

  /** The real server sets up its resolver anew then. */
  refused(): void {
    this.#stats.count('dns.cares.reinits');
  }

  #showPending(change: number): void {
    this.#pending += change;
    this.#stats.setGauge('dns.cares.pending_resolutions', this.#pending);
  }
}
