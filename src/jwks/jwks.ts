// Keys of issuers, fetched when workers ask for them or ahead of that, and given to all workers.
import { ownHeader } from '../base/own-headers.js';
import { guarded, unawaited } from '../base/bugs.js';
import { startImmediate, startTimeout } from '../base/timers.js';
import type { ClusterNative, StatsHost } from '../grpc/cluster-stats.js';
import { HttpFetcher } from '../http/http-fetcher.js';
import type { ApplyError, NativeProxy } from '../native.js';
import { ASK_JWKS } from '../native.js';
import { compileJwks } from '../plan/jwt/jwks.js';
import type { JwksSource, JwksSources } from '../plan/jwks-source.js';
import { encodeUpdate, type JwksUpdate } from '../plan/plan.gen.js';

type Native = ClusterNative & Pick<NativeProxy, 'apply' | 'onAsk'>;

export interface JwksHost {
  readonly native: Native;
  readonly stats: StatsHost;
  log(level: 'debug' | 'warning', message: string): void;
}

const OK = 200;

export class JwksFetches {
  readonly #sources: JwksSources;
  readonly #host: JwksHost;
  readonly #http: HttpFetcher;
  readonly #fetching = new Set<number>();
  readonly #timers = new Map<number, NodeJS.Timeout>();
  #isStopped = false;

  /** `sources` grows as listeners come. */
  constructor(sources: JwksSources, host: JwksHost) {
    this.#sources = sources;
    this.#host = host;
    this.#http = new HttpFetcher(host.native, host.stats);
    const take = (what: number, id: number): void => {
      if (what === ASK_JWKS) this.#ask(id);
    };
    host.native.onAsk(guarded('a question of a worker', take));
  }

  /** Resolves when those keys are there, or are known not to be, that listeners wait for. */
  async start(): Promise<void> {
    this.#sources.onAdd = (id, source) => {
      // Once the listener is there.
      if (source.ahead) startImmediate(() => this.#fetchSoon(id, source));
    };
    const waited = this.#sources.entries().flatMap(([id, source]) => {
      if (!source.ahead) return [];
      if (!source.ahead.isFast) return this.#fetch(id, source);
      this.#fetchSoon(id, source);
      return [];
    });
    await Promise.all(waited);
  }

  #fetchSoon(id: number, source: JwksSource): void {
    unawaited('a fetch of keys', this.#fetch(id, source));
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#http.close();
  }

  #ask(id: number): void {
    const source = this.#sources.get(id);
    if (source) this.#fetchSoon(id, source);
    else this.#tell({ id });
  }

  /** One at a time. */
  async #fetch(id: number, source: JwksSource): Promise<void> {
    if (this.#fetching.has(id) || this.#isStopped) return;
    this.#fetching.add(id);
    const { log } = this.#host;
    const timeoutMs = source.tryMs ?? source.timeoutMs;
    const headers = {
      'user-agent': 'Go-browser',
      [ownHeader('internal')]: 'true',
      'x-forwarded-for': source.localAddress,
      ...(timeoutMs > 0 && { [ownHeader('expected-rq-timeout-ms')]: String(timeoutMs) }),
    };
    const answer = await this.#http.fetch(source, { method: 'GET', headers });
    this.#fetching.delete(id);
    if (this.#isStopped) return;
    const keys = answer?.status === OK ? compileJwks(answer.body.toString()) : undefined;
    if (typeof keys === 'string') log('debug', `keys of ${source.uri} are none: ${keys}`);
    if (!answer) log('debug', `keys of ${source.uri} cannot be fetched`);
    const isFetched = typeof keys === 'object';
    const isWanted = this.#tell({ id, ...(isFetched && { jwks: keys }) });
    if (!isWanted) {
      this.#sources.delete(id);
      return;
    }
    if (source.ahead) this.#fetchAgain(id, source, isFetched);
  }

  #fetchAgain(id: number, source: JwksSource, isFetched: boolean): void {
    const ms = isFetched ? source.ahead?.afterSuccessMs : source.ahead?.afterFailureMs;
    clearTimeout(this.#timers.get(id));
    this.#timers.set(id, startTimeout(() => this.#fetchSoon(id, source), ms ?? 0).unref());
  }

  /** False: nobody wants them any more. */
  #tell(update: JwksUpdate): boolean {
    const errors: readonly ApplyError[] = this.#host.native.apply(encodeUpdate({ jwks: [update] }));
    return errors.length === 0;
  }
}
