// One HTTP/2 connection to one host of a cluster, with as many streams as the host takes.
//
//   connecting -> ready -> draining (no new streams) -> closed
//   connecting -> closed
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { OutgoingHttpHeaders } from 'node:http2';
import { guarded } from '../base/bugs.js';
import type { ControlHost } from '../native.js';
import type { ClusterStats } from './cluster-stats.js';
import { ConnectionCounts } from './connection-counts.js';
import { dial } from './dial.js';
import type { DialFailure } from './dial-failure.js';
import type { GrpcClusterPlan } from '../plan/service-plan.js';
import { startTimeout } from '../base/timers.js';

/** Who waits for a connection. */
export interface ConnectionWaiter {
  onReady(connection: Connection): void;
  onFailed(failure: DialFailure): void;
}

type State = 'connecting' | 'ready' | 'draining' | 'closed';

const WHERE = 'a gRPC connection';

export class Connection {
  readonly host: ControlHost;
  readonly #cluster: GrpcClusterPlan;
  readonly #stats: ClusterStats;
  readonly #onClosed: (connection: Connection) => void;
  readonly #counts: ConnectionCounts;
  readonly #waiters = new Set<ConnectionWaiter>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #state: State = 'connecting';
  #giveUp: () => void;
  #session: ClientHttp2Session | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #active = 0;
  #total = 0;
  #isHeard = false;
  #isEndedHere = false;
  /** When it ended, streams were on it. */
  #hadActive = false;

  constructor(
    cluster: GrpcClusterPlan,
    host: ControlHost,
    stats: ClusterStats,
    onClosed: (connection: Connection) => void,
  ) {
    this.#cluster = cluster;
    this.host = host;
    this.#stats = stats;
    this.#onClosed = onClosed;
    stats.showHttp2();
    this.#counts = new ConnectionCounts(stats, host);
    stats.count('upstream_cx_http2_total');
    stats.count('http2.nghttp2_upstream_connections');
    this.#giveUp = dial(cluster, host, {
      onOpen: (socket, raw) => this.#open(socket, raw),
      onFailure: (failure) => this.#fail(failure),
    });
  }

  /** New streams may be opened, now or soon. */
  get isUsable(): boolean {
    return this.#state === 'connecting' || this.isReady;
  }

  get isReady(): boolean {
    return this.#state === 'ready' && this.#session?.closed === false && !this.isLost;
  }

  /** The host has spoken HTTP/2. */
  get isHeard(): boolean {
    return this.#isHeard;
  }

  /** It is gone with all its streams, or about to be. */
  get isLost(): boolean {
    return this.#state === 'closed' || this.#session?.destroyed === true;
  }

  /** Calls one of the waiter's methods, later; only while it is connecting. */
  wait(waiter: ConnectionWaiter): void {
    this.#waiters.add(waiter);
  }

  /** Whether it was waiting. */
  forget(waiter: ConnectionWaiter): boolean {
    return this.#waiters.delete(waiter);
  }

  /** Only while it is ready. A text says why there is no stream. */
  request(headers: OutgoingHttpHeaders): ClientHttp2Stream | string {
    const session = this.#session;
    if (!session) throw new Error('the connection is not open');
    if (!this.#stats.tryTake('requests')) {
      this.#stats.count('upstream_rq_active_overflow');
      return 'too many streams are open';
    }
    let stream: ClientHttp2Stream;
    try {
      stream = session.request(headers);
    } catch (error) {
      this.#stats.giveBack('requests');
      return (error as Error).message;
    }
    clearTimeout(this.#idleTimer);
    if (this.#total === 0) this.#stats.showNothingHeld();
    this.#active++;
    this.#total++;
    this.#stats.count('upstream_rq_total');
    this.#moveActive(1);
    const { maxRequests } = this.#cluster;
    const ended = (): void => {
      if (session.destroyed) this.#hadActive = true;
      this.#active--;
      this.#moveActive(-1);
      this.countBytes();
      if (this.#active === 0) this.#onIdle();
    };
    stream.once('close', guarded(WHERE, ended));
    if (maxRequests > 0 && this.#total >= maxRequests) {
      this.#stats.count('upstream_cx_max_requests');
      this.drain();
    }
    return stream;
  }

  /** Takes no new streams, and closes once the last one has ended. */
  drain(): void {
    if (this.#state === 'connecting') {
      this.close();
      return;
    }
    if (this.#state !== 'ready') return;
    this.#state = 'draining';
    if (this.#active === 0) this.close();
  }

  close(): void {
    // What the peer has ended is about to be told.
    if (this.isLost) return;
    this.#isEndedHere = true;
    if (this.#session) {
      this.#session.destroy();
      return;
    }
    this.#giveUp();
    this.#end();
  }

  /** What has gone over the network since the previous call. */
  countBytes(): void {
    this.#counts.countBytes();
  }

  get #ender(): 'local' | 'remote' {
    return this.#isEndedHere ? 'local' : 'remote';
  }

  #moveActive(amount: number): void {
    this.#stats.move('upstream_rq_active', amount);
    this.#stats.move('http2.streams_active', amount);
    this.#stats.countOn(this.host, 'rq_active', amount);
    if (amount > 0) {
      this.#stats.countOn(this.host, 'rq_total');
    } else {
      this.#stats.giveBack('requests');
    }
  }

  #open(socket: Socket, raw: Socket): void {
    const { http2, maxConnectionMs } = this.#cluster;
    this.#counts.opened(socket, raw);
    const session = connect('http://host', {
      createConnection: () => socket,
      settings: { enablePush: false, ...http2.settings },
    });
    this.#session = session;
    session.unref();
    session.on('error', () => undefined);
    const heard = (): void => {
      this.#isHeard = true;
      // They are acknowledged, which is the first frame of that kind.
      this.#stats.showNoAnswersHeld();
      this.countBytes();
    };
    session.once('remoteSettings', guarded(WHERE, heard));
    session.once(
      'localSettings',
      guarded(WHERE, () => this.countBytes()),
    );
    const left = (): void => {
      this.countBytes();
      this.#stats.count('upstream_cx_close_notify');
      this.drain();
    };
    session.once('goaway', guarded(WHERE, left));
    session.once(
      'close',
      guarded(WHERE, () => this.#onSessionClosed()),
    );
    const widen = (): void => {
      const { connectionWindowBytes } = http2;
      if (connectionWindowBytes !== undefined) session.setLocalWindowSize(connectionWindowBytes);
    };
    session.once('connect', guarded(WHERE, widen));
    if (http2.ping) this.#ping(session, http2.ping);
    if (maxConnectionMs > 0) {
      this.#after(maxConnectionMs, () => {
        this.#stats.count('upstream_cx_max_duration_reached');
        this.drain();
      });
    }
    this.#state = 'ready';
    for (const waiter of this.#takeWaiters()) {
      if (this.isReady) waiter.onReady(this);
      else waiter.onFailed({ kind: 'refused', message: 'the connection was closed' });
    }
    if (this.#active === 0) this.#onIdle();
  }

  #fail(failure: DialFailure): void {
    if (failure.kind === 'timeout') this.#isEndedHere = true;
    this.#counts.failed(failure);
    const waiters = this.#takeWaiters();
    this.#end();
    for (const waiter of waiters) waiter.onFailed(failure);
  }

  #takeWaiters(): ConnectionWaiter[] {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    return waiters;
  }

  #onSessionClosed(): void {
    this.countBytes();
    if (this.#hadActive || this.#active > 0) this.#counts.brokenOff(this.#ender);
    this.#stats.record('upstream_rq_per_cx', this.#total);
    this.#counts.showBuffered(0);
    this.#end();
  }

  #end(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    clearTimeout(this.#idleTimer);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#counts.closed(this.#ender);
    this.#onClosed(this);
  }

  #onIdle(): void {
    if (this.#state === 'draining') this.close();
    const { idleTimeoutMs } = this.#cluster;
    if (this.#state !== 'ready' || idleTimeoutMs === 0) return;
    this.#idleTimer = startTimeout(() => {
      this.#stats.count('upstream_cx_idle_timeout');
      this.close();
    }, idleTimeoutMs).unref();
  }

  #after(ms: number, act: () => void): void {
    const timer = startTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms).unref();
    this.#timers.add(timer);
  }

  #ping(session: ClientHttp2Session, ping: NonNullable<GrpcClusterPlan['http2']['ping']>): void {
    const { intervalMs, timeoutMs, jitterPct } = ping;
    this.#after(intervalMs * (1 + (Math.random() * jitterPct) / 100), () => {
      if (session.destroyed) return;
      let isAnswered = false;
      this.#after(timeoutMs, () => {
        if (isAnswered || session.destroyed) return;
        this.#stats.count('http2.keepalive_timeout');
        this.#isEndedHere = true;
        session.destroy(undefined, constants.NGHTTP2_NO_ERROR);
      });
      const answered = (error: Error | null): void => {
        isAnswered = error === null;
        if (isAnswered) this.#ping(session, ping);
      };
      session.ping(guarded(WHERE, answered));
    });
  }
}
