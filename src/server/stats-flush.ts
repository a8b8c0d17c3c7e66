// At every flush the histograms are merged, the server's own gauges are written, and the sinks get
// what they want of it all.
import { unawaited } from '../base/bugs.js';
import type { NativeProxy } from '../native.js';
import type { SinkPieces } from '../native-stats.js';
import { atMost } from '../base/patience.js';
import type { StatsSink } from '../stats/sink.js';
import type { ControlStats } from '../stats/control-stats.js';
import { stateNumber, type ServerState } from '../lifecycle/state.js';
import { startImmediate, startInterval } from '../base/timers.js';

export interface FlushSource {
  readonly native: NativeProxy;
  readonly stats: ControlStats;
  state(): ServerState;
  uptimeOfAllEpochsMs(): number;
  /** What earlier processes have counted since the last time is merged. */
  pullParentStats(): Promise<void>;
  /** Of all TLS certificates; undefined: there is none. */
  daysUntilFirstExpiry(): number | undefined;
  /** Of processes before this one; undefined where there can be none. */
  parentConnections(): number | undefined;
  warn(message: string): void;
}

export interface FlushTargets {
  /** In the order of the data plane's formats; those that it serves itself are absent. */
  readonly sinks: readonly (StatsSink | undefined)[];
  /** A sink wants the values of histograms one by one. */
  readonly wantsSamples: boolean;
  /** Told of each flush once the numbers are there. */
  readonly onFlush?: (() => void) | undefined;
}

/** Where nothing expires: the largest number of days that the gauge holds. */
const NEVER_EXPIRES_DAYS = 4_294_967_295;
/** Single values wait no longer: in this time even busy workers do not fill what they have for them. */
const SAMPLES_MS = 50;
/** What sinks get to send the rest when the server ends. */
const CLOSE_MS = 1000;

export class StatsFlush {
  readonly #source: FlushSource;
  #targets: FlushTargets = { sinks: [], wantsSamples: false };
  #timer: NodeJS.Timeout | undefined;
  #sampleTimer: NodeJS.Timeout | undefined;
  #isSending = false;
  #isTakingSamples = false;
  #lostSamples = 0;

  constructor(source: FlushSource) {
    this.#source = source;
  }

  /** Without an interval only flush() flushes. */
  start(intervalMs: number | undefined, targets: FlushTargets): void {
    this.#targets = targets;
    if (intervalMs !== undefined) {
      this.#timer = startInterval(() => {
        unawaited(
          'a flush of statistics',
          this.#source.pullParentStats().then(() => this.flush()),
        );
      }, intervalMs);
    }
    if (targets.wantsSamples) {
      this.#sampleTimer = startInterval(() => this.#takeSamples(), SAMPLES_MS);
    }
  }

  /** Sends what there is, at once; resolves when it has left, or has had its time. */
  async stop(): Promise<void> {
    const wasRunning = this.#timer !== undefined;
    clearInterval(this.#timer);
    clearInterval(this.#sampleTimer);
    this.#timer = undefined;
    if (wasRunning) this.#sendAll();
    const closing = this.#targets.sinks.flatMap((sink) => (sink ? [sink.close()] : []));
    this.#targets = { sinks: [], wantsSamples: false };
    if (closing.length === 0) return;
    await atMost(CLOSE_MS, Promise.all(closing));
  }

  flush(): void {
    this.#source.native.flushHistograms();
    this.writeGauges();
    this.#targets.onFlush?.();
    if (this.#targets.sinks.length === 0) return;
    if (this.#isSending) {
      this.#source.stats.count('server.dropped_stat_flushes');
      return;
    }
    this.#source.native.openFlush(Date.now());
    this.#isSending = true;
    this.#send();
  }

  /** A piece a turn, so that many statistics never hold up the control thread. */
  #send(): void {
    // The end came in between.
    if (!this.#isSending) return;
    // Whatever is thrown on the way, the next flush begins anew.
    this.#isSending = false;
    if (this.#hand(this.#source.native.nextOfFlush())) {
      this.#isSending = true;
      startImmediate(() => this.#send());
      return;
    }
    for (const sink of this.#targets.sinks) sink?.end();
  }

  #sendAll(): void {
    const { native } = this.#source;
    if (this.#targets.sinks.length === 0) return;
    if (!this.#isSending) {
      native.flushHistograms();
      this.writeGauges();
      native.openFlush(Date.now());
    }
    this.#isSending = false;
    while (this.#hand(native.nextOfFlush()));
    while (this.#hand(native.takeSamples()));
    for (const sink of this.#targets.sinks) sink?.end();
  }

  #takeSamples(): void {
    if (this.#isTakingSamples) return;
    const step = (): void => {
      // Whatever is thrown on the way, the next timer begins anew.
      this.#isTakingSamples = false;
      if (this.#hand(this.#source.native.takeSamples())) {
        this.#isTakingSamples = true;
        startImmediate(step);
        return;
      }
      this.#warnOfLost();
    };
    step();
  }

  #warnOfLost(): void {
    const lost = this.#source.native.lostSamples();
    if (lost === this.#lostSamples) return;
    const count = lost - this.#lostSamples;
    this.#lostSamples = lost;
    this.#source.warn(`${count} values of histograms came too fast to be sent to statsd`);
  }

  /** Whether there is more. */
  #hand({ pieces, more }: SinkPieces): boolean {
    pieces.forEach((piece, index) => {
      if (piece.length > 0) this.#targets.sinks[index]?.write(piece);
    });
    return more;
  }

  /** What the server knows of itself, now. */
  writeGauges(): void {
    const { native, stats } = this.#source;
    const state = this.#source.state();
    const memory = native.memory();
    stats.setGauge('server.uptime', Math.floor(this.#source.uptimeOfAllEpochsMs() / 1000));
    stats.setGauge('server.live', state === 'LIVE' ? 1 : 0);
    stats.setGauge('server.state', stateNumber(state));
    stats.setGauge('server.memory_allocated', memory.allocated);
    stats.setGauge('server.memory_heap_size', memory.heapSize);
    stats.setGauge('server.memory_physical_size', process.memoryUsage.rss());
    stats.setGauge('server.stats_recent_lookups', stats.lookups.total);
    stats.setGauge('server.total_connections', this.connectionCount());
    const parentConnections = this.#source.parentConnections();
    if (parentConnections !== undefined) {
      stats.setGauge('server.parent_connections', parentConnections);
    }
    const days = this.#source.daysUntilFirstExpiry() ?? NEVER_EXPIRES_DAYS;
    stats.setGauge('server.days_until_first_cert_expiring', days);
  }

  /** Of all listeners, those of processes before this one included. */
  connectionCount(): number {
    return this.#source.native.openConnections() + (this.#source.parentConnections() ?? 0);
  }
}
