// HTTP/1.1 to the hosts of a cluster, for whoever posts something: by undici, over connections that last,
// which count on the cluster and its hosts as a worker's would.
import { undici } from '../base/late-modules.js';
import { ownHeader } from '../base/own-headers.js';
import type { Socket } from 'node:net';
import type * as Undici from 'undici';
import { monotonicMs } from '../base/clock.js';
import { unawaited } from '../base/bugs.js';
import { LONGEST_TIMER_MS, startTimeout, timeoutSignal } from '../base/timers.js';
import { dial } from '../grpc/dial.js';
import { sslFaultOf } from '../grpc/dial-failure.js';
import { ClusterStats, type ClusterNative, type StatsHost } from '../grpc/cluster-stats.js';
import type { ControlHost } from '../native.js';
import type { GrpcClusterPlan } from '../plan/service-plan.js';

export interface HttpPost {
  /** What the host is asked for. */
  readonly host: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** 0: no limit. */
  readonly timeoutMs: number;
  /** The host is told how long the body is. */
  readonly isSized?: boolean;
}

/** Of a host, or in its place: then there is no text. */
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** What there is of a cluster by its name; undefined: nothing. */
export type FindCluster = (name: string) => GrpcClusterPlan | undefined;

/** Of answers that nobody reads. */
const LONGEST_BYTES = 2 ** 20;
/** Those that wait for an answer; others are lost at once. */
const MOST_POSTS = 1024;

export class ClusterHttp {
  readonly #name: string;
  readonly #findCluster: FindCluster;
  readonly #native: ClusterNative;
  readonly #host: StatsHost;
  readonly #localAddress: string;
  readonly #longestBytes: number;
  readonly #idle = new Map<string, PooledClient[]>();
  readonly #all = new Set<PooledClient>();
  #stats: ClusterStats | undefined;

  constructor(
    name: string,
    findCluster: FindCluster,
    counted: { readonly native: ClusterNative; readonly stats: StatsHost },
    localAddress: string,
    /** An answer that is longer breaks off. */
    longestBytes = LONGEST_BYTES,
  ) {
    this.#name = name;
    this.#longestBytes = longestBytes;
    this.#findCluster = findCluster;
    this.#native = counted.native;
    this.#host = counted.stats;
    this.#localAddress = localAddress;
    // Loaded before the first post waits for it.
    undici();
  }

  get isThere(): boolean {
    return this.#native.clusterPrefix(this.#name) !== undefined;
  }

  /** The status of the answer, also of one in place of a host's; undefined: it broke off. */
  async post(post: HttpPost): Promise<number | undefined> {
    return (await this.ask(post))?.status;
  }

  /** Likewise, with what it says. */
  async ask(post: HttpPost): Promise<HttpAnswer | undefined> {
    const plan = this.#findCluster(this.#name);
    if (!plan || !this.isThere) return { status: 503, text: '' };
    const stats = (this.#stats ??= new ClusterStats(this.#name, this.#native, this.#host));
    stats.countCall();
    const host = stats.chooseHost();
    if (!host) return answered(stats, 503);
    if (this.#all.size >= MOST_POSTS || !stats.tryTake('requests')) {
      stats.count('upstream_rq_pending_overflow');
      return answered(stats, 503);
    }
    try {
      return await this.#postTo(host, plan, stats, post);
    } finally {
      stats.giveBack('requests');
    }
  }

  close(): void {
    for (const client of [...this.#all]) client.close();
  }

  async #postTo(
    host: ControlHost,
    plan: GrpcClusterPlan,
    stats: ClusterStats,
    post: HttpPost,
  ): Promise<HttpAnswer | undefined> {
    const key = `${host.address} ${host.port}`;
    const client = this.#idle.get(key)?.pop() ?? this.#open(key, host, plan, stats);
    const answer = await client.post(post, this.#localAddress);
    if (client.isUsable) {
      const idle = this.#idle.get(key) ?? [];
      idle.push(client);
      this.#idle.set(key, idle);
    }
    return answer;
  }

  #open(key: string, host: ControlHost, plan: GrpcClusterPlan, stats: ClusterStats): PooledClient {
    const client = new PooledClient(host, plan, stats, this.#longestBytes, () => {
      this.#all.delete(client);
      const idle = this.#idle.get(key)?.filter((one) => one !== client) ?? [];
      if (idle.length > 0) this.#idle.set(key, idle);
      else this.#idle.delete(key);
    });
    this.#all.add(client);
    return client;
  }
}

function answered(stats: ClusterStats, status: number): HttpAnswer {
  stats.countAnswer(status);
  return { status, text: '' };
}

/** One connection, with one request at a time. */
class PooledClient {
  readonly #host: ControlHost;
  readonly #plan: GrpcClusterPlan;
  readonly #stats: ClusterStats;
  readonly #onClosed: () => void;
  readonly #client: Undici.Client;
  readonly #startMs = monotonicMs();
  #raw: Socket | undefined;
  #state: 'new' | 'open' | 'closed' = 'new';
  #isEndedHere = false;
  #isActive = false;
  /** A request broke off, which ends it. */
  #hadActive = false;
  #total = 0;
  #countedIn = 0;
  #countedOut = 0;
  #shownBuffered = 0;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(
    host: ControlHost,
    plan: GrpcClusterPlan,
    stats: ClusterStats,
    longestBytes: number,
    onClosed: () => void,
  ) {
    this.#host = host;
    this.#plan = plan;
    this.#stats = stats;
    this.#onClosed = onClosed;
    stats.count('upstream_cx_total');
    stats.count('upstream_cx_http1_total');
    stats.move('upstream_cx_active', 1);
    stats.countOn(host, 'cx_total');
    stats.countOn(host, 'cx_active');
    if (!stats.take('connections')) stats.count('upstream_cx_overflow');
    const { Client } = undici();
    this.#client = new Client('http://cluster', {
      pipelining: 1,
      maxResponseSize: longestBytes,
      // What is idle for too long is ended below, which is counted.
      keepAliveTimeout: LONGEST_TIMER_MS,
      keepAliveMaxTimeout: LONGEST_TIMER_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_: unknown, done: (error: Error | null, socket: Socket | null) => void) => {
        this.#dial(done);
      },
    } as unknown as Undici.Client.Options);
  }

  get isUsable(): boolean {
    const { maxRequests } = this.#plan;
    if (this.#state !== 'open') return false;
    if (maxRequests === 0 || this.#total < maxRequests) return true;
    this.#stats.count('upstream_cx_max_requests');
    this.close();
    return false;
  }

  async post(post: HttpPost, localAddress: string): Promise<HttpAnswer | undefined> {
    const stats = this.#stats;
    const startMs = monotonicMs();
    const signal = post.timeoutMs > 0 ? timeoutSignal(post.timeoutMs) : undefined;
    if (this.#state === 'new') stats.count('upstream_rq_pending_total');
    else this.#onAsked();
    this.#isActive = true;
    clearTimeout(this.#idleTimer);
    let status: number | undefined;
    try {
      const answer = await this.#client.request({
        method: 'POST',
        path: post.path,
        headers: headersOf(post, localAddress),
        // Of unknown length, as the real server sends what is told of.
        body: post.isSized ? post.body : (pieces(post.body) as unknown as string),
        ...(signal && { signal }),
      });
      status = answer.statusCode;
      // Whether somebody reads it or not: the connection goes on behind it.
      const text = await answer.body.text();
      this.#onAnswer(status, monotonicMs() - startMs);
      return { status, text };
    } catch {
      return this.#onFailure(status !== undefined, signal?.aborted === true);
    } finally {
      this.#isActive = false;
      this.#countBytes();
      this.#onIdle();
    }
  }

  #onIdle(): void {
    const { idleTimeoutMs } = this.#plan;
    if (this.#state !== 'open' || idleTimeoutMs === 0) return;
    this.#idleTimer = startTimeout(() => {
      this.#stats.count('upstream_cx_idle_timeout');
      this.close();
    }, idleTimeoutMs).unref();
  }

  close(): void {
    if (this.#state === 'closed') return;
    this.#isEndedHere = true;
    unawaited('an HTTP connection', this.#client.destroy());
    if (!this.#raw) this.#onClose();
  }

  #onAsked(): void {
    this.#total++;
    this.#stats.count('upstream_rq_total');
    this.#stats.move('upstream_rq_active', 1);
    this.#stats.countOn(this.#host, 'rq_total');
    this.#stats.countOn(this.#host, 'rq_active');
  }

  #onOver(): void {
    this.#stats.move('upstream_rq_active', -1);
    this.#stats.countOn(this.#host, 'rq_active', -1);
  }

  #onAnswer(status: number, tookMs: number): void {
    this.#onOver();
    const stats = this.#stats;
    stats.countAnswer(status);
    stats.countOn(this.#host, status >= 500 ? 'rq_error' : 'rq_success');
    stats.record('upstream_rq_time', tookMs);
    stats.record('internal.upstream_rq_time', tookMs);
  }

  #onFailure(hasBegun: boolean, isLate: boolean): HttpAnswer | undefined {
    const stats = this.#stats;
    const wasOpen = this.#raw !== undefined;
    this.#hadActive = wasOpen;
    if (wasOpen) this.#onOver();
    stats.countOn(this.#host, isLate ? 'rq_timeout' : 'rq_error');
    if (isLate) stats.count('upstream_rq_timeout');
    else if (!wasOpen) stats.count('upstream_rq_pending_failure_eject');
    if (this.#state !== 'closed') this.close();
    if (hasBegun) return undefined;
    return answered(stats, isLate ? 504 : 503);
  }

  #dial(done: (error: Error | null, socket: Socket | null) => void): void {
    // Undici connects again on its own, which would be another connection.
    if (this.#state !== 'new') {
      done(new Error('the connection was closed'), null);
      return;
    }
    dial(this.#plan, this.#host, {
      onOpen: (socket, raw) => {
        this.#raw = raw;
        this.#state = 'open';
        this.#stats.record('upstream_cx_connect_ms', monotonicMs() - this.#startMs);
        if (this.#plan.tls) this.#stats.count('ssl.handshake');
        raw.once('close', () => this.#onClose());
        raw.unref();
        this.#onAsked();
        done(null, withoutConnectionHeader(socket));
      },
      onFailure: (failure) => {
        this.#stats.count('upstream_cx_connect_fail');
        if (failure.kind === 'timeout') this.#stats.count('upstream_cx_connect_timeout');
        const fault = sslFaultOf(failure);
        if (fault !== undefined) this.#stats.count(fault);
        this.#stats.countOn(this.#host, 'cx_connect_fail');
        this.#onClose();
        done(new Error(failure.message), null);
      },
    });
  }

  #countBytes(): void {
    if (!this.#raw) return;
    const { bytesRead, bytesWritten } = this.#raw;
    if (bytesRead > this.#countedIn) {
      this.#stats.count('upstream_cx_rx_bytes_total', bytesRead - this.#countedIn);
      // What was read last, as the real server shows it.
      this.#showBuffered(bytesRead - this.#countedIn);
    }
    this.#stats.count('upstream_cx_tx_bytes_total', bytesWritten - this.#countedOut);
    this.#countedIn = bytesRead;
    this.#countedOut = bytesWritten;
  }

  #showBuffered(bytes: number): void {
    this.#stats.move('upstream_cx_rx_bytes_buffered', bytes - this.#shownBuffered);
    this.#shownBuffered = bytes;
  }

  #onClose(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    clearTimeout(this.#idleTimer);
    this.#countBytes();
    this.#showBuffered(0);
    const stats = this.#stats;
    const who = this.#isEndedHere ? 'local' : 'remote';
    stats.count('upstream_cx_destroy');
    stats.count(`upstream_cx_destroy_${who}`);
    if (this.#raw && (this.#isActive || this.#hadActive)) {
      stats.count('upstream_cx_destroy_with_active_rq');
      stats.count(`upstream_cx_destroy_${who}_with_active_rq`);
    }
    stats.move('upstream_cx_active', -1);
    stats.countOn(this.#host, 'cx_active', -1);
    stats.giveBack('connections');
    if (this.#raw) stats.record('upstream_rq_per_cx', this.#total);
    stats.record('upstream_cx_length_ms', monotonicMs() - this.#startMs);
    unawaited('an HTTP connection', this.#client.destroy());
    this.#onClosed();
  }
}

function headersOf(post: HttpPost, localAddress: string): Record<string, string> {
  return {
    host: post.host,
    [ownHeader('internal')]: 'true',
    'x-forwarded-for': localAddress,
    ...(post.timeoutMs > 0 && { [ownHeader('expected-rq-timeout-ms')]: String(post.timeoutMs) }),
    ...Object.fromEntries(post.headers),
  };
}

async function* pieces(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}

/** Undici tells hosts that connections last, which goes without saying; the real server does not. */
function withoutConnectionHeader(socket: Socket): Socket {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  socket.write = ((chunk: unknown, ...rest: unknown[]): boolean =>
    write(
      typeof chunk === 'string' && chunk.startsWith('POST ')
        ? chunk.replace('connection: keep-alive\r\n', '')
        : chunk,
      ...rest,
    )) as Socket['write'];
  return socket;
}
