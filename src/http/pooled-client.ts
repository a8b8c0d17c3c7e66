// One HTTP/1.1 connection to a host of a cluster, with one request at a time: by undici, counted on the
// cluster and the host as a worker's would be. An HttpPool's.
import type { Socket } from 'node:net';
import type * as Undici from 'undici';
import { unawaited } from '../base/bugs.js';
import { monotonicMs } from '../base/clock.js';
import { undici } from '../base/late-modules.js';
import { LONGEST_TIMER_MS, startTimeout } from '../base/timers.js';
import type { ClusterStats } from '../grpc/cluster-stats.js';
import { dial } from '../grpc/dial.js';
import { sslFaultOf } from '../grpc/dial-failure.js';
import type { ControlHost } from '../native.js';
import type { GrpcClusterPlan } from '../plan/service-plan.js';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /** All that the host is to hear, but for the length. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** The host is told how long the body is. */
  readonly isSized?: boolean;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** Of a host, or in its place: then there is no body. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** In place of a host's. */
export function answered(stats: ClusterStats, status: number): HttpAnswer {
  stats.countAnswer(status);
  return { status, body: Buffer.alloc(0) };
}

/** One connection, with one request at a time. */
export class PooledClient {
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
  /** Its request waits for the connection. */
  #isWaiting = false;
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
    stats.take('connection_pools');
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

  /** Undefined: an answer that had begun broke off. */
  async ask(request: HttpRequest): Promise<HttpAnswer | undefined> {
    const { method, path, headers, body, signal } = request;
    const startMs = monotonicMs();
    if (this.#state === 'new') this.#beginWait();
    else this.#onAsked();
    this.#isActive = true;
    clearTimeout(this.#idleTimer);
    let status: number | undefined;
    try {
      const answer = await this.#client.request({
        ...{ method, path, headers },
        // Of unknown length, as the real server sends what is told of.
        ...(body && { body: request.isSized ? body : (pieces(body) as unknown as string) }),
        ...(signal && { signal }),
      });
      status = answer.statusCode;
      // Whether somebody reads it or not: the connection goes on behind it.
      const whole = Buffer.from(await answer.body.arrayBuffer());
      this.#onAnswer(status, monotonicMs() - startMs);
      return { status, body: whole };
    } catch {
      return this.#onFailure(status !== undefined, signal?.aborted === true);
    } finally {
      this.#isActive = false;
      this.#endWait();
      this.#countBytes();
      this.#onIdle();
    }
  }

  #beginWait(): void {
    this.#isWaiting = true;
    this.#stats.count('upstream_rq_pending_total');
    this.#stats.move('upstream_rq_pending_active', 1);
    this.#stats.take('pending_requests');
  }

  #endWait(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.#stats.move('upstream_rq_pending_active', -1);
    this.#stats.giveBack('pending_requests');
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
        this.#endWait();
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
    stats.giveBack('connection_pools');
    if (this.#raw) stats.record('upstream_rq_per_cx', this.#total);
    stats.record('upstream_cx_length_ms', monotonicMs() - this.#startMs);
    unawaited('an HTTP connection', this.#client.destroy());
    this.#onClosed();
  }
}

async function* pieces(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}

/** Undici tells hosts that connections last, which goes without saying; the real server does not. */
function withoutConnectionHeader(socket: Socket): Socket {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  socket.write = ((chunk: unknown, ...rest: unknown[]): boolean =>
    write(
      typeof chunk === 'string' && chunk.includes(' HTTP/1.1\r\n')
        ? chunk.replace('connection: keep-alive\r\n', '')
        : chunk,
      ...rest,
    )) as Socket['write'];
  return socket;
}
