// A stream to a host of a cluster. Until the host answers, it may be opened anew.
//
//   waiting (for a connection) -> open -> over
//   waiting | open -> paused (before another try) -> waiting
import { constants, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import type { OutgoingHttpHeaders } from 'node:http2';
import { guarded } from '../base/bugs.js';
import type { GrpcStream, GrpcStreamEvents } from './client.js';
import type { ClusterPool, PoolUser } from './cluster-pool.js';
import type { Connection } from './connection.js';
import type { DialFailure } from './dial-failure.js';
import { frameMessage, MessageReader } from './message-frames.js';
import { Retries } from './retries.js';
import type { EnvoyGrpcPlan } from '../plan/service-plan.js';
import { isServerFault, statusIn, statusOfHttp, type GrpcStatus } from './status.js';
import { startTimeout } from '../base/timers.js';

const WHERE = 'a gRPC stream';

/** What is kept for another try is not longer; the real server's limit. */
const MAX_KEPT_BYTES = 65_536;

/** What is sent again has left only once. */
function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

interface Written {
  readonly frame: Buffer;
  readonly onSent: () => void;
}

export class ClusterStream implements GrpcStream, PoolUser {
  readonly #pool: ClusterPool;
  readonly #headers: OutgoingHttpHeaders;
  readonly #events: GrpcStreamEvents;
  readonly #onOver: (stream: ClusterStream) => void;
  readonly #reader: MessageReader;
  /** Undefined where it is opened but once, or cannot be opened anew any more. */
  #retries: Retries | undefined;
  #state: 'waiting' | 'open' | 'paused' | 'over' = 'waiting';
  #connection: Connection | undefined;
  #stream: ClientHttp2Stream | undefined;
  /** Not on a stream yet, or needed for the next. */
  #kept: Written[] = [];
  #keptBytes = 0;
  #isEnded = false;
  #isAnswered = false;
  /** This is not the first try. */
  #wasTried = false;
  #retryTimer: NodeJS.Timeout | undefined;
  #durationTimer: NodeJS.Timeout | undefined;

  constructor(
    pool: ClusterPool,
    service: EnvoyGrpcPlan,
    headers: OutgoingHttpHeaders,
    events: GrpcStreamEvents,
    onOver: (stream: ClusterStream) => void,
  ) {
    this.#pool = pool;
    this.#headers = headers;
    this.#events = events;
    this.#onOver = onOver;
    this.#reader = new MessageReader(service.maxMessageBytes);
    this.#retries = service.retry && new Retries(service.retry, pool.stats);
    pool.users.add(this);
    pool.stats.countCall();
    this.#start();
  }

  get isConnected(): boolean {
    return this.#state === 'open' && this.#connection?.isHeard === true;
  }

  write(message: Buffer, onSent: () => void): void {
    if (this.#state === 'over') {
      onSent();
      return;
    }
    const frame = frameMessage(message);
    const tell = once(() => {
      this.#connection?.countBytes();
      onSent();
    });
    this.#stream?.write(frame, tell);
    if (this.#stream && !this.#retries) return;
    this.#kept.push({ frame, onSent: tell });
    this.#keptBytes += frame.length;
    if (this.#keptBytes > MAX_KEPT_BYTES) this.#abandonRetries();
  }

  end(): void {
    this.#isEnded = true;
    this.#stream?.end();
  }

  cancel(): void {
    if (this.#state === 'over') return;
    if (this.#state === 'waiting') this.#pool.stats.count('upstream_rq_cancelled');
    this.#leave();
  }

  onAbandoned(): void {
    this.#finish({ code: 'UNAVAILABLE', message: 'the cluster is another, or has gone' });
  }

  #start(): void {
    this.#state = 'waiting';
    // Later, so that whoever opens a stream has it before it hears of it.
    queueMicrotask(guarded(WHERE, () => this.#choose(), this.#recover));
  }

  #choose(): void {
    if (this.#state !== 'waiting') return;
    const { stats } = this.#pool;
    const host = stats.chooseHost();
    if (!host) {
      this.#fail(this.#atOnce('no healthy upstream'), 'refused');
      return;
    }
    const open = this.#pool.find(host);
    if (open?.isReady) {
      this.#attach(open);
    } else if (stats.tryTake('pending_requests')) {
      this.#await(open ?? this.#pool.open(host));
    } else {
      stats.count('upstream_rq_pending_overflow');
      this.#fail(this.#atOnce('too many streams wait'), 'refused');
    }
  }

  #atOnce(message: string): GrpcStatus {
    return { code: 'UNAVAILABLE', message, isAtOnce: !this.#wasTried };
  }

  /** After a bug of ours. */
  readonly #recover = (): void =>
    this.#finish({ code: 'INTERNAL', message: 'a fault of the proxy' });

  readonly #waiter = {
    onReady: (connection: Connection) => {
      this.#movePending(connection, -1);
      this.#attach(connection);
    },
    onFailed: (failure: DialFailure) => {
      const { stats } = this.#pool;
      const connection = this.#connection;
      if (connection) this.#movePending(connection, -1);
      stats.count('upstream_rq_pending_failure_eject');
      if (connection) stats.countOn(connection.host, 'rq_error');
      this.#fail({ code: 'UNAVAILABLE', message: failure.message }, 'connect');
    },
  };

  #await(connection: Connection): void {
    this.#connection = connection;
    this.#pool.stats.count('upstream_rq_pending_total');
    this.#movePending(connection, 1);
    connection.wait(this.#waiter);
  }

  #movePending(connection: Connection, amount: number): void {
    this.#pool.stats.move('upstream_rq_pending_active', amount);
    this.#pool.stats.countOn(connection.host, 'rq_pending_active', amount);
    if (amount < 0) this.#pool.stats.giveBack('pending_requests');
  }

  #attach(connection: Connection): void {
    this.#connection = connection;
    const stream = connection.request(this.#headers);
    if (typeof stream === 'string') {
      this.#pool.stats.countOn(connection.host, 'rq_error');
      this.#fail({ code: 'UNAVAILABLE', message: stream }, 'refused');
      return;
    }
    this.#state = 'open';
    this.#stream = stream;
    const { maxStreamMs } = this.#pool.cluster;
    if (maxStreamMs > 0) {
      this.#durationTimer ??= startTimeout(() => {
        this.#pool.stats.count('upstream_rq_max_duration_reached');
        this.#finish({ code: 'UNAVAILABLE', message: 'upstream max stream duration reached' });
      }, maxStreamMs).unref();
    }
    this.#listen(connection, stream);
    for (const { frame, onSent } of this.#kept) stream.write(frame, onSent);
    if (!this.#retries) this.#kept = [];
    if (this.#isEnded) stream.end();
  }

  #listen(connection: Connection, stream: ClientHttp2Stream): void {
    const answered = (headers: IncomingHttpHeaders & { ':status'?: number }): void => {
      if (this.#stream !== stream) return;
      const httpStatus = headers[':status'] ?? 0;
      const final =
        statusIn(headers) ?? (httpStatus === 200 ? undefined : statusOfHttp(httpStatus));
      if (this.#retryOn(stream, final, httpStatus)) return;
      this.#isAnswered = true;
      this.#retries?.onAnswer(final);
      this.#retries = undefined;
      this.#kept = [];
      this.#pool.stats.countAnswer(httpStatus, connection.host, headers);
      if (final) this.#conclude(connection, final);
    };
    const take = (piece: Buffer): void => {
      connection.countBytes();
      if (this.#stream !== stream) return;
      const messages = this.#reader.take(piece);
      if (typeof messages === 'string') {
        this.#finish({ code: 'RESOURCE_EXHAUSTED', message: messages });
        return;
      }
      for (const message of messages) this.#events.onMessage(message);
    };
    const conclude = (headers: IncomingHttpHeaders): void => {
      if (this.#stream !== stream) return;
      const status = statusIn(headers);
      this.#conclude(connection, status ?? { code: 'UNKNOWN', message: 'no grpc-status came' });
    };
    const closed = (): void => {
      if (this.#stream === stream) this.#onReset(connection, stream);
    };
    stream.on('response', guarded(WHERE, answered, this.#recover));
    stream.on('data', guarded(WHERE, take, this.#recover));
    stream.on('trailers', guarded(WHERE, conclude, this.#recover));
    stream.on('error', () => undefined);
    stream.once('close', guarded(WHERE, closed, this.#recover));
  }

  /** The server has said how the call ends. */
  #conclude(connection: Connection, status: GrpcStatus): void {
    this.#pool.stats.countOn(connection.host, isServerFault(status) ? 'rq_error' : 'rq_success');
    this.#finish(status);
  }

  #onReset(connection: Connection, stream: ClientHttp2Stream): void {
    const { stats } = this.#pool;
    const isWhole = connection.isLost;
    if (isWhole) stats.count('upstream_rq_pending_failure_eject');
    else {
      stats.count('http2.rx_reset');
      if (stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM) stats.count('upstream_rq_rx_reset');
    }
    stats.countOn(connection.host, 'rq_error');
    const message = isWhole
      ? 'the connection was closed'
      : `the server reset the stream (code ${stream.rstCode ?? 0})`;
    this.#stream = undefined;
    this.#fail({ code: 'UNAVAILABLE', message }, isWhole ? 'connection' : 'reset');
  }

  /** It came to nothing here: there is another try, or it is over. */
  #fail(status: GrpcStatus, how: 'refused' | 'connect' | 'connection' | 'reset'): void {
    const delayMs = how === 'refused' || this.#isAnswered ? undefined : this.#retries?.next(how);
    if (delayMs !== undefined) {
      this.#pause(delayMs);
      return;
    }
    if (!this.#isAnswered) this.#pool.stats.countAnswer(503, this.#connection?.host);
    this.#leave();
    this.#events.onEnd(status);
  }

  /** Whether the answer makes the stream be opened anew. */
  #retryOn(stream: ClientHttp2Stream, final: GrpcStatus | undefined, httpStatus: number): boolean {
    const delayMs = this.#retries?.nextAfter(final, httpStatus);
    if (delayMs === undefined) return false;
    this.#pool.stats.countRetried(httpStatus);
    this.#stream = undefined;
    stream.close();
    this.#pause(delayMs);
    return true;
  }

  #pause(delayMs: number): void {
    this.#state = 'paused';
    this.#wasTried = true;
    this.#connection = undefined;
    this.#retryTimer = startTimeout(() => this.#start(), delayMs).unref();
  }

  #abandonRetries(): void {
    if (!this.#retries) return;
    this.#retries.abandon();
    this.#retries = undefined;
    if (this.#state === 'open') this.#kept = [];
  }

  #finish(status: GrpcStatus): void {
    if (this.#state === 'over') return;
    this.#leave();
    this.#events.onEnd(status);
  }

  /** Without a word to anybody but the server. */
  #leave(): void {
    const { stats } = this.#pool;
    const stream = this.#stream;
    const connection = this.#connection;
    const wasWaiting = this.#state === 'waiting';
    this.#state = 'over';
    this.#stream = undefined;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#durationTimer);
    if (wasWaiting && connection && connection.forget(this.#waiter)) {
      this.#movePending(connection, -1);
    }
    if (stream && !stream.writableEnded && !stream.destroyed) {
      stats.count('http2.tx_reset');
      stats.showNoAnswersHeld();
      stats.count('upstream_rq_tx_reset');
      stream.close(constants.NGHTTP2_NO_ERROR);
    }
    for (const { onSent } of this.#kept) onSent();
    this.#kept = [];
    this.#pool.users.delete(this);
    this.#onOver(this);
  }
}
