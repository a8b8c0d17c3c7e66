// Whether, and when, a stream that nobody has answered is opened anew.
import type { ClusterStats } from './cluster-stats.js';
import type { GrpcRetryPlan } from '../plan/service-plan.js';
import type { GrpcCode, GrpcStatus } from './status.js';

export type StreamFailure = 'connect' | 'connection' | 'reset';

const NAMES: Readonly<Partial<Record<GrpcCode, string>>> = {
  CANCELLED: 'cancelled',
  DEADLINE_EXCEEDED: 'deadline-exceeded',
  INTERNAL: 'internal',
  RESOURCE_EXHAUSTED: 'resource-exhausted',
  UNAVAILABLE: 'unavailable',
};

export class Retries {
  readonly #plan: GrpcRetryPlan;
  readonly #stats: ClusterStats;
  #done = 0;

  constructor(plan: GrpcRetryPlan, stats: ClusterStats) {
    this.#plan = plan;
    this.#stats = stats;
  }

  /** Milliseconds until the next try; undefined: there is none. */
  next(failure: StreamFailure): number | undefined {
    const { on } = this.#plan;
    const wanted =
      on.has('5xx') ||
      on.has('gateway-error') ||
      (failure === 'connect' ? on.has('connect-failure') : on.has('reset'));
    return wanted ? this.#take() : undefined;
  }

  /** The same for an answer; `status`: of a call that is over with it. */
  nextAfter(status: GrpcStatus | undefined, httpStatus: number): number | undefined {
    const { on } = this.#plan;
    const name = status && httpStatus === 200 ? NAMES[status.code] : undefined;
    const wanted =
      (name !== undefined && on.has(name)) ||
      (httpStatus >= 500 && on.has('5xx')) ||
      (httpStatus >= 502 && httpStatus <= 504 && on.has('gateway-error')) ||
      (httpStatus === 409 && on.has('retriable-4xx'));
    return wanted ? this.#take() : undefined;
  }

  /** There will be no more tries: the answer is this one. */
  onAnswer(status: GrpcStatus | undefined): void {
    if (this.#done > 0 && (!status || status.code === 'OK')) {
      this.#stats.count('upstream_rq_retry_success');
    }
  }

  /** Too much would have to be sent again. */
  abandon(): void {
    this.#stats.count('retry_or_shadow_abandoned');
  }

  /** Exponential, with all of the interval left to chance. */
  #take(): number | undefined {
    const { count, baseMs, maxMs } = this.#plan;
    if (this.#done >= count) {
      this.#stats.count('upstream_rq_retry_limit_exceeded');
      return undefined;
    }
    const interval = Math.min(maxMs, baseMs * (2 ** (this.#done + 1) - 1));
    this.#done++;
    this.#stats.count('upstream_rq_retry');
    this.#stats.count('upstream_rq_retry_backoff_exponential');
    return Math.random() * interval;
  }
}
