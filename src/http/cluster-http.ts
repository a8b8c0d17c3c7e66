// Posts to the hosts of a cluster, as the real server's own client sends them.
import { octetsOf } from '../base/octets.js';
import { ownHeader } from '../base/own-headers.js';
import { timeoutSignal } from '../base/timers.js';
import type { ClusterNative, StatsHost } from '../grpc/cluster-stats.js';
import type { ClusterLookup } from '../plan/service-plan.js';
import { HttpPool } from './http-pool.js';

export interface HttpPost {
  /** What the host is asked for. */
  readonly host: string;
  readonly path: string;
  /** Each character of a value is one byte. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** 0: no limit. */
  readonly timeoutMs: number;
  /** The host is told how long the body is. */
  readonly isSized?: boolean;
}

/** Of a host, or in its place: then there is no text. */
export interface TextAnswer {
  readonly status: number;
  readonly text: string;
}

/** Of answers that nobody reads. */
const LONGEST_BYTES = 2 ** 20;

export class ClusterHttp {
  readonly #pool: HttpPool;
  readonly #localAddress: string;

  constructor(
    name: string,
    clusters: ClusterLookup,
    counted: { readonly native: ClusterNative; readonly stats: StatsHost },
    localAddress: string,
    /** An answer that is longer breaks off. */
    longestBytes = LONGEST_BYTES,
  ) {
    this.#pool = new HttpPool(name, clusters, counted, longestBytes);
    this.#localAddress = localAddress;
  }

  get isThere(): boolean {
    return this.#pool.isThere;
  }

  /** The status of the answer, also of one in place of a host's; undefined: it broke off. */
  async post(post: HttpPost): Promise<number | undefined> {
    return (await this.ask(post))?.status;
  }

  /** Likewise, with what it says. */
  async ask(post: HttpPost): Promise<TextAnswer | undefined> {
    this.#pool.stats?.countCall();
    const answer = await this.#pool.ask({
      method: 'POST',
      path: octetsOf(post.path),
      headers: headersOf(post, this.#localAddress),
      body: post.body,
      ...(post.isSized && { isSized: true }),
      signal: post.timeoutMs > 0 ? timeoutSignal(post.timeoutMs) : undefined,
    });
    return answer && { status: answer.status, text: answer.body.toString() };
  }

  close(): void {
    this.#pool.close();
  }
}

function headersOf(post: HttpPost, localAddress: string): Record<string, string> {
  return {
    host: octetsOf(post.host),
    [ownHeader('internal')]: 'true',
    'x-forwarded-for': localAddress,
    ...(post.timeoutMs > 0 && { [ownHeader('expected-rq-timeout-ms')]: String(post.timeoutMs) }),
    ...Object.fromEntries(post.headers),
  };
}
