// HTTP/1.1 to the hosts of clusters, as the real server's own client asks them: within a time, and again
// where that may help.
import { createRequire } from 'node:module';
import { startTimeout, timeoutSignal } from '../base/timers.js';
import type { ClusterNative, StatsHost } from '../grpc/cluster-stats.js';
import type { HttpSource } from '../plan/jwks-source.js';
import { HttpPool } from './http-pool.js';
import type { HttpAnswer, HttpRequest } from './pooled-client.js';

/** An answer that is longer is none. */
const LONGEST_BYTES = 16 * 2 ** 20;
const FIRST_ERROR = 500;

export class HttpFetcher {
  readonly #counted: { readonly native: ClusterNative; readonly stats: StatsHost };
  /** By the cluster's name. */
  readonly #pools = new Map<string, HttpPool>();
  #isClosed = false;

  constructor(native: ClusterNative, stats: StatsHost) {
    this.#counted = { native, stats };
  }

  /** Undefined: there is no whole answer within the time, whatever was tried; or nothing is asked any more. */
  async fetch(
    source: HttpSource,
    request: Pick<HttpRequest, 'method' | 'headers' | 'body'>,
  ): Promise<HttpAnswer | undefined> {
    // Whoever was waiting for an answer may go on to its next request.
    if (this.#isClosed) return undefined;
    const pool = this.#poolOf(source);
    const { stats } = pool;
    if (!stats) return undefined;
    stats.countCall();
    const signal = source.timeoutMs > 0 ? timeoutSignal(source.timeoutMs) : undefined;
    const headers = { host: source.host, ...request.headers };
    for (let tries = 0; !this.#isClosed; tries += 1) {
      const isLast = (): boolean =>
        tries >= source.retries || signal?.aborted === true || this.#isClosed;
      const tryTime = source.tryMs === undefined ? undefined : new TryTime(source.tryMs);
      const answer = await pool.ask({
        ...{ ...request, headers, signal: earlier(signal, tryTime?.signal) },
        onAsked: () => tryTime?.begin(),
        isTryOver: () => tryTime?.signal.aborted === true && signal?.aborted !== true,
        ...{ path: source.path, isSized: true },
        isRetried: (status) => status >= FIRST_ERROR && !isLast(),
      });
      tryTime?.end();
      if (answer && answer.status < FIRST_ERROR) {
        if (tries > 0) stats.count('upstream_rq_retry_success');
        return answer;
      }
      if (isLast()) {
        const isSpent = source.retries > 0 && tries >= source.retries;
        if (isSpent) stats.count('upstream_rq_retry_limit_exceeded');
        return answer;
      }
      stats.count('upstream_rq_retry');
      stats.count('upstream_rq_retry_backoff_exponential');
      await pause(backOffMs(source, tries), signal);
    }
    return undefined;
  }

  close(): void {
    this.#isClosed = true;
    for (const pool of this.#pools.values()) pool.close();
    this.#pools.clear();
  }

  #poolOf({ clusterName, clusters }: HttpSource): HttpPool {
    const known = this.#pools.get(clusterName);
    if (known) return known;
    const pool = new HttpPool(clusterName, clusters, this.#counted, LONGEST_BYTES);
    this.#pools.set(clusterName, pool);
    return pool;
  }
}

/** What one try may take, from when its host is asked: connecting has a time of its own. */
class TryTime {
  readonly #ms: number;
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  begin(): void {
    this.#timer = startTimeout(() => this.#over.abort(), this.#ms).unref();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

function earlier(
  one: AbortSignal | undefined,
  other: AbortSignal | undefined,
): AbortSignal | undefined {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other);
}

/** As the real server: by chance, up to a bound that doubles. */
function backOffMs({ backOff }: HttpSource, tries: number): number {
  return Math.random() * Math.min(backOff.baseMs * 2 ** (tries + 1), backOff.maxMs);
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { setTimeout: wait } = createRequire(import.meta.url)(
    'node:timers/promises',
  ) as typeof import('node:timers/promises');
  await wait(ms, undefined, { ...(signal && { signal }), ref: false }).catch(() => undefined);
}
