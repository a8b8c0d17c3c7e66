// One connection to a host of a cluster, HTTP/1.1 with one request at a time or HTTP/2: by undici, counted
// on the cluster and the host as a worker's would be. An HttpPool's.
import type { Socket } from 'node:net';
import type * as Undici from 'undici';
import { unawaited } from '../base/bugs.js';
import { monotonicMs } from '../base/clock.js';
import { undici } from '../base/late-modules.js';
import { LONGEST_TIMER_MS, startTimeout } from '../base/timers.js';
import type { AnswerHeaders, ClusterStats } from '../grpc/cluster-stats.js';
import { ConnectionCounts } from '../grpc/connection-counts.js';
import { dial } from '../grpc/dial.js';
import type { ControlHost } from '../native.js';
import type { GrpcClusterPlan } from '../plan/service-plan.js';

const PER_TRY_TIMEOUT = 'upstream_rq_per_try_timeout';

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
  /** There is a connection, which sends it. */
  readonly onAsked?: () => void;
  /** Whether that is because its own time is over, and not that of all tries. */
  readonly isTryOver?: () => boolean;
  /** Whether another try follows an answer of that status, which is then counted as such. */
  readonly isRetried?: (status: number) => boolean;
}

/** Of a host, or in its place: then there is no body. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** In place of that of `host`, or of any. */
export function answered(
  stats: ClusterStats,
  status: number,
  isRetried?: HttpRequest['isRetried'],
  host?: ControlHost,
): HttpAnswer {
  if (!isRetried?.(status)) stats.countAnswer(status, host);
  return { status, body: Buffer.alloc(0) };
}

/** What is counted of an answer that came whole. */
interface Answered {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly tookMs: number;
}

/** Requests that one connection of HTTP/2 carries at a time. */
const MOST_STREAMS = 100;

/** What undici goes by, whatever the socket: the protocol that TLS has agreed on. */
interface AgreedSocket {
  alpnProtocol?: string | false | null;
}

export class PooledClient {
  readonly #host: ControlHost;
  readonly #plan: GrpcClusterPlan;
  readonly #stats: ClusterStats;
  readonly #onClosed: () => void;
  readonly #client: Undici.Client;
  readonly #longestBytes: number;
  readonly #counts: ConnectionCounts;
  #isOpened = false;
  /** Ends a dial that is under way. */
  #giveUp: (() => void) | undefined;
  #state: 'new' | 'open' | 'closed' = 'new';
  #isEndedHere = false;
  /** Undefined: TLS has yet to agree on it. */
  #isHttp2: boolean | undefined;
  /** Its requests, and those of them that wait for the connection. */
  #active = 0;
  readonly #waiting = new Set<HttpRequest>();
  /** A request broke off, which ends it. */
  #hadActive = false;
  #total = 0;
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
    this.#counts = new ConnectionCounts(stats, host);
    if (plan.speaks !== 'what TLS agrees on') this.#speak(plan.speaks === 'HTTP/2');
    const { Client } = undici();
    this.#longestBytes = longestBytes;
    this.#client = new Client('http://cluster', {
      pipelining: plan.speaks === 'HTTP/1' ? 1 : MOST_STREAMS,
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

  /** Whether another request may go this way now. */
  get hasRoom(): boolean {
    if (this.#state === 'closed' || this.#isEndedHere) return false;
    const { maxRequests } = this.#plan;
    if (maxRequests > 0 && this.#total + this.#waiting.size >= maxRequests) return false;
    return this.#active < (this.#isHttp2 ? MOST_STREAMS : 1);
  }

  /** Undefined: an answer that had begun broke off. */
  async ask(request: HttpRequest): Promise<HttpAnswer | undefined> {
    const { method, path, headers, body, signal } = request;
    const startMs = monotonicMs();
    if (this.#state === 'new') this.#beginWait(request);
    else this.#onAsked(request);
    this.#active++;
    clearTimeout(this.#idleTimer);
    let status: number | undefined;
    try {
      const answering = this.#client.request({
        ...{ method, path, headers },
        // Of unknown length, as the real server sends what is told of.
        ...(body && { body: request.isSized ? body : (pieces(body) as unknown as string) }),
        ...(signal && { signal }),
      });
      const answer = await (signal ? unlessLate(answering, signal) : answering);
      status = answer.statusCode;
      if (request.isRetried?.(status)) return await this.#onRetried(answer, status);
      // Whether somebody reads it or not: the connection goes on behind it.
      const whole = await this.#readAll(answer.body);
      const tookMs = monotonicMs() - startMs;
      this.#onAnswer({ status, headers: answer.headers, tookMs });
      return { status, body: whole };
    } catch {
      return this.#onFailure(request, status !== undefined);
    } finally {
      this.#active--;
      this.#endWait(request);
      this.#counts.countBytes();
      this.#closeIfWorn();
      this.#onIdle();
    }
  }

  async #readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
    const read: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes > this.#longestBytes) throw new Error('the answer is too long');
      read.push(piece);
    }
    return Buffer.concat(read);
  }

  #speak(isHttp2: boolean): void {
    this.#isHttp2 = isHttp2;
    this.#stats.count(isHttp2 ? 'upstream_cx_http2_total' : 'upstream_cx_http1_total');
    if (!isHttp2) return;
    this.#stats.showHttp2();
    this.#stats.count('http2.nghttp2_upstream_connections');
  }

  #beginWait(request: HttpRequest): void {
    this.#waiting.add(request);
    this.#stats.count('upstream_rq_pending_total');
    this.#stats.move('upstream_rq_pending_active', 1);
    this.#stats.take('pending_requests');
  }

  /** Whether it has waited until now. */
  #endWait(request: HttpRequest): boolean {
    if (!this.#waiting.delete(request)) return false;
    this.#stats.move('upstream_rq_pending_active', -1);
    this.#stats.giveBack('pending_requests');
    return true;
  }

  #closeIfWorn(): void {
    const { maxRequests } = this.#plan;
    if (this.#state !== 'open' || maxRequests === 0 || this.#total < maxRequests) return;
    if (this.#active > 0) return;
    this.#stats.count('upstream_cx_max_requests');
    this.close();
  }

  #onIdle(): void {
    const { idleTimeoutMs } = this.#plan;
    if (this.#state !== 'open' || this.#active > 0 || idleTimeoutMs === 0) return;
    this.#idleTimer = startTimeout(() => {
      this.#stats.count('upstream_cx_idle_timeout');
      this.close();
    }, idleTimeoutMs).unref();
  }

  close(): void {
    if (this.#state === 'closed') return;
    this.#isEndedHere = true;
    this.#giveUp?.();
    unawaited('an HTTP connection', this.#client.destroy());
    if (!this.#isOpened) this.#onClose();
  }

  #onAsked({ onAsked }: HttpRequest): void {
    onAsked?.();
    this.#total++;
    this.#stats.count('upstream_rq_total');
    this.#stats.move('upstream_rq_active', 1);
    if (this.#isHttp2) this.#stats.move('http2.streams_active', 1);
    this.#stats.countOn(this.#host, 'rq_total');
    this.#stats.countOn(this.#host, 'rq_active');
  }

  #onOver(): void {
    this.#stats.move('upstream_rq_active', -1);
    if (this.#isHttp2) this.#stats.move('http2.streams_active', -1);
    this.#stats.countOn(this.#host, 'rq_active', -1);
  }

  /** Nobody reads the body, as in the real server: HTTP/1 has no other end for it than the connection's. */
  async #onRetried(answer: Undici.Dispatcher.ResponseData, status: number): Promise<HttpAnswer> {
    this.#onOver();
    this.#stats.countRetried(status);
    this.#stats.countOn(this.#host, 'rq_error');
    if (answer.headers['content-length'] === '0') {
      await answer.body.dump();
    } else {
      answer.body.on('error', () => undefined).destroy();
      this.#hadActive = !this.#isHttp2;
      if (!this.#isHttp2) this.close();
    }
    return { status, body: Buffer.alloc(0) };
  }

  #onAnswer({ status, headers, tookMs }: Answered): void {
    this.#onOver();
    const stats = this.#stats;
    stats.countAnswer(status, this.#host, headers);
    stats.countOn(this.#host, status >= 500 ? 'rq_error' : 'rq_success');
    stats.recordAnswerTime(tookMs, this.#host, headers);
  }

  #onFailure(request: HttpRequest, hasBegun: boolean): HttpAnswer | undefined {
    const stats = this.#stats;
    const isLate = request.signal?.aborted === true;
    const wasAsked = !this.#endWait(request);
    // As in the real server the connection goes on, for whoever comes.
    if (isLate && !wasAsked && this.#state === 'new') return this.#giveUpWaiting(request);
    if (wasAsked) this.#onOver();
    stats.countOn(this.#host, isLate ? 'rq_timeout' : 'rq_error');
    if (isLate) stats.count(request.isTryOver?.() ? PER_TRY_TIMEOUT : 'upstream_rq_timeout');
    else if (!wasAsked) stats.count('upstream_rq_pending_failure_eject');
    // Of HTTP/2, one request ends and the others go on, or wait on.
    const isNobodys = this.#state === 'new' && this.#waiting.size === 0;
    if (!this.#isHttp2 || isNobodys) {
      this.#hadActive = wasAsked;
      this.close();
    }
    if (hasBegun) return undefined;
    return answered(stats, isLate ? 504 : 503, request.isRetried, this.#host);
  }

  #giveUpWaiting(request: HttpRequest): HttpAnswer {
    const stats = this.#stats;
    stats.count('upstream_rq_cancelled');
    stats.count(request.isTryOver?.() ? PER_TRY_TIMEOUT : 'upstream_rq_timeout');
    return answered(stats, 504, request.isRetried);
  }

  #dial(done: (error: Error | null, socket: Socket | null) => void): void {
    // Undici connects again on its own, which would be another connection.
    if (this.#state !== 'new') {
      done(new Error('the connection was closed'), null);
      return;
    }
    this.#giveUp = dial(this.#plan, this.#host, {
      onOpen: (socket, raw) => {
        this.#isOpened = true;
        this.#state = 'open';
        this.#counts.opened(socket, raw);
        raw.once('close', () => this.#onClose());
        raw.unref();
        const agreed = socket as AgreedSocket;
        if (this.#isHttp2 === undefined) this.#speak(agreed.alpnProtocol === 'h2');
        agreed.alpnProtocol = this.#isHttp2 ? 'h2' : false;
        if (this.#isHttp2) {
          this.#stats.showNothingHeld();
          this.#stats.showNoAnswersHeld();
        }
        for (const request of [...this.#waiting]) {
          this.#endWait(request);
          this.#onAsked(request);
        }
        done(null, this.#isHttp2 ? socket : withoutConnectionHeader(socket));
        // Whoever it was made for may wait no longer.
        this.#onIdle();
      },
      onFailure: (failure) => {
        this.#counts.failed(failure);
        if (failure.kind === 'timeout') this.#isEndedHere = true;
        this.#onClose();
        done(new Error(failure.message), null);
      },
    });
  }

  #onClose(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    clearTimeout(this.#idleTimer);
    this.#counts.countBytes();
    this.#counts.showBuffered(0);
    const who = this.#isEndedHere ? 'local' : 'remote';
    if (this.#isOpened && (this.#active > 0 || this.#hadActive)) this.#counts.brokenOff(who);
    if (this.#isOpened) this.#stats.record('upstream_rq_per_cx', this.#total);
    this.#counts.closed(who);
    unawaited('an HTTP connection', this.#client.destroy());
    this.#onClosed();
  }
}

/** Undici hears of it that nobody waits any longer once there is a connection: that may be never. */
async function unlessLate<T>(answering: Promise<T>, signal: AbortSignal): Promise<T> {
  let onLate = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    onLate = () => reject(new Error('nobody waits any longer'));
    if (signal.aborted) onLate();
    else signal.addEventListener('abort', onLate, { once: true });
  });
  try {
    return await Promise.race([answering, late]);
  } finally {
    signal.removeEventListener('abort', onLate);
    answering.catch(() => undefined);
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
