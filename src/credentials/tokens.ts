// Tokens of clients (RFC 6749 §4.4), fetched from the hosts of clusters before they end, and given to all
// workers.
import { unawaited } from '../base/bugs.js';
import { startImmediate, startTimeout } from '../base/timers.js';
import type { ClusterNative, StatsHost } from '../grpc/cluster-stats.js';
import { HttpFetcher } from '../http/http-fetcher.js';
import type { HttpAnswer } from '../http/pooled-client.js';
import type { NativeProxy } from '../native.js';
import type { LiveSources, TokenSource } from '../plan/live-sources.js';
import { encodeUpdate } from '../plan/plan.gen.js';
import { Telling } from './telling.js';

export interface TokensHost {
  readonly native: ClusterNative & Pick<NativeProxy, 'apply'>;
  readonly stats: StatsHost;
  log(level: 'debug' | 'error' | 'warning', message: string): void;
}

interface Token {
  readonly text: string;
  readonly expiresS: number;
}

const OK = 200;
/** A token that ends at once is not fetched more often. */
const LEAST_MS = 100;

export class Tokens {
  readonly #host: TokensHost;
  readonly #live: LiveSources;
  readonly #http: HttpFetcher;
  readonly #telling: Telling;
  readonly #timers = new Map<number, NodeJS.Timeout>();
  /** When the token that workers have ends. */
  readonly #ends = new Map<number, number>();
  #isStopped = false;

  constructor(live: LiveSources, host: TokensHost) {
    this.#host = host;
    this.#live = live;
    this.#http = new HttpFetcher(host.native, host.stats);
    this.#telling = new Telling(live);
  }

  /**
   * Resolves when each has been asked for once, whatever came of it: nobody may wait for it by then. Requests
   * without them are refused meanwhile.
   */
  async start(): Promise<void> {
    const first: Promise<void>[] = [];
    let isStarted = false;
    this.#live.onRelease((id) => this.#forget(id));
    this.#live.follow((id, source) => {
      if (source.kind !== 'token') return;
      this.#telling.expect(id);
      if (!isStarted) first.push(this.#ask(id, source));
      // Once its filter is there.
      else startImmediate(() => void this.#ask(id, source));
    });
    isStarted = true;
    await Promise.allSettled(first);
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#telling.stop();
    this.#http.close();
  }

  /** What is thrown is told. */
  #ask(id: number, source: TokenSource): Promise<void> {
    const renewed = this.#renew(id, source);
    unawaited('a fetch of a token', renewed);
    return renewed;
  }

  async #renew(id: number, source: TokenSource): Promise<void> {
    if (!this.#live.isThere(id)) return;
    const token = await this.#fetch(source);
    if (this.#isStopped || !this.#live.isThere(id)) return;
    if (token) this.#ends.set(id, Date.now() + token.expiresS * 1000);
    const isOver = !token && (this.#ends.get(id) ?? 0) <= Date.now();
    // A token is of use until it ends, whether there is another one or not.
    const value = token ? `Bearer ${token.text}` : isOver ? '' : undefined;
    if (value !== undefined) this.#telling.tell(id, () => this.#tell(id, value));
    const ms = token ? Math.max(LEAST_MS, Math.floor(token.expiresS / 2) * 1000) : source.retryMs;
    const again = (): void => void this.#ask(id, source);
    this.#timers.set(id, startTimeout(again, ms).unref());
  }

  #tell(id: number, value: string): boolean {
    return this.#host.native.apply(encodeUpdate({ secrets: [{ id, value }] })).length === 0;
  }

  #forget(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.#ends.delete(id);
    this.#telling.forget(id);
  }

  /** Undefined: there is none, which is counted. */
  async #fetch(source: TokenSource): Promise<Token | undefined> {
    const { stats, log } = this.#host;
    const fail = (why: string, message: string): undefined => {
      stats.count(`${source.statPrefix}token_fetch_failed_on_${why}`);
      log('error', message);
      return undefined;
    };
    const secret = source.secret();
    const seconds = source.retryMs / 1000;
    if (source.auth !== 'TLS_CLIENT_AUTH' && secret === '') {
      return fail('client_secret', `client secret is empty, retrying in ${seconds} seconds.`);
    }
    if (!source.endpoint.clusters.get(source.endpoint.clusterName)) {
      return fail('cluster_not_found', `OAuth cluster not found. Retrying in ${seconds} seconds`);
    }
    stats.count(`${source.statPrefix}token_requested`);
    const request = {
      method: 'POST' as const,
      headers: headersOf(source),
      body: bodyOf(source, secret),
    };
    const answer = await this.#http.fetch(source.endpoint, request);
    if (this.#isStopped) return undefined;
    if (answer?.status !== OK) {
      return fail('bad_response_code', `Oauth response code: ${answer?.status ?? 503}`);
    }
    const token = readToken(answer);
    if (!token) return fail('bad_token', 'No access token or expiration after asyncGetAccessToken');
    stats.count(`${source.statPrefix}token_fetched`);
    return token;
  }
}

function headersOf(source: TokenSource): Record<string, string> {
  return {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    'user-agent': 'Go-browser',
    'x-envoy-internal': 'true',
    'x-forwarded-for': source.localAddress,
    ...(source.endpoint.timeoutMs > 0 && {
      'x-envoy-expected-rq-timeout-ms': String(source.endpoint.timeoutMs),
    }),
  };
}

function bodyOf(source: TokenSource, secret: string): Buffer {
  const pairs: (readonly [string, string])[] = [
    ['grant_type', 'client_credentials'],
    ['client_id', source.clientId],
  ];
  // As the real server: also where its configuration asks for basic authentication.
  if (source.auth !== 'TLS_CLIENT_AUTH') pairs.push(['client_secret', secret]);
  if (source.scopes.length > 0) pairs.push(['scope', source.scopes.join(' ')]);
  const params = new Map(source.params.map(({ name, value }) => [name, value]));
  pairs.push(...[...params].sort(([a], [b]) => (a < b ? -1 : 1)));
  return Buffer.from(pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&'));
}

/** All but letters, digits and "-._~". */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function readToken(answer: HttpAnswer): Token | undefined {
  let body: unknown;
  try {
    body = JSON.parse(answer.body.toString());
  } catch {
    return undefined;
  }
  if (typeof body !== 'object' || body === null) return undefined;
  const members = body as Readonly<Record<string, unknown>>;
  const text = members['access_token'] ?? members['accessToken'];
  const expires = Number(members['expires_in'] ?? members['expiresIn'] ?? NaN);
  if (typeof text !== 'string' || !Number.isInteger(expires) || expires < 0) return undefined;
  return { text, expiresS: expires };
}
