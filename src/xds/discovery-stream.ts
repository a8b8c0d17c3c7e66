// The stream to a control plane: opened, and opened anew after it has ended, with growing pauses;
// requests leave it as fast as the rate limit lets them.
//
//   closed -> open -> pausing -> open …
import { startTimeout } from '../base/timers.js';
import type { GrpcClient, GrpcStream } from '../grpc/client.js';
import { statusText, type GrpcStatus } from '../grpc/status.js';
import type { Level } from '../logging/levels.js';
import type { StreamPlan } from '../plan/sources.js';
import type { ControlStats } from '../stats/control-stats.js';

export interface StreamEvents {
  /** Nothing has been sent on it yet. */
  onOpen(): void;
  onMessage(bytes: Buffer): void;
  /** It has ended, or could not be opened. */
  onClosed(): void;
}

export interface StreamHost {
  readonly stats: ControlStats;
  readonly log: (level: Level, message: string) => void;
}

export class DiscoveryStream {
  readonly #plan: StreamPlan;
  readonly #method: string;
  readonly #host: StreamHost;
  /** How the names of its statistics begin. */
  readonly #prefix: string;
  readonly #events: StreamEvents;
  readonly #makeClient: () => Promise<GrpcClient>;
  #client: GrpcClient | undefined;
  #stream: GrpcStream | undefined;
  #attempts = 0;
  #isOutageTold = false;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  /** Written when a token is there. */
  readonly #waiting: (() => Buffer)[] = [];
  #hasEverWaited = false;
  /** Requests that whoever sends keeps back. */
  #heldBack = 0;
  #tokens: number;
  #refilledMs = performance.now();
  #refill: NodeJS.Timeout | undefined;

  constructor(
    plan: StreamPlan,
    method: string,
    host: StreamHost,
    made: {
      readonly statPrefix: string;
      readonly makeClient: () => Promise<GrpcClient>;
      readonly events: StreamEvents;
    },
  ) {
    this.#plan = plan;
    this.#method = method;
    this.#host = host;
    this.#prefix = made.statPrefix;
    this.#events = made.events;
    this.#makeClient = made.makeClient;
    this.#tokens = plan.rateLimit?.burst ?? 0;
  }

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  async start(): Promise<void> {
    const client = await this.#makeClient();
    if (this.#isStopped) {
      client.close();
      return;
    }
    this.#client = client;
    this.#open();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#refill);
    this.#stream?.cancel();
    this.#stream = undefined;
    this.#client?.close();
  }

  /** `encode` is called when the request leaves. */
  send(encode: () => Buffer): void {
    this.#waiting.push(encode);
    this.#drain();
  }

  /** So many more requests wait for something else. */
  holdBack(count: number): void {
    if (count === this.#heldBack) return;
    this.#heldBack = count;
    this.#tellPending();
  }

  /** What has come on it makes no sense: there is another stream. */
  breakOff(message: string): void {
    const stream = this.#stream;
    if (!stream) return;
    stream.cancel();
    this.#end({ code: 'INTERNAL', message });
  }

  #open(): void {
    if (!this.#client || this.#isStopped) return;
    this.#stream = this.#client.open(this.#method, {
      onMessage: (bytes) => {
        this.#attempts = 0;
        this.#isOutageTold = false;
        this.#gauge('connected_state', 1);
        this.#events.onMessage(bytes);
      },
      onEnd: (status) => this.#end(status),
    });
    this.#gauge('connected_state', 1);
    this.#events.onOpen();
  }

  #end(status: GrpcStatus): void {
    this.#stream = undefined;
    this.#waiting.length = 0;
    this.#heldBack = 0;
    this.#gauge('connected_state', 0);
    this.#tellPending();
    const method = this.#method.slice(this.#method.lastIndexOf('/') + 1);
    const { service } = this.#plan;
    const to = service.kind === 'envoy' ? service.clusterName : service.target;
    // Said once of an outage; that the control plane is done with a stream is none.
    const isNews = !this.#isOutageTold && status.code !== 'OK';
    this.#host.log(
      isNews ? 'warning' : 'debug',
      `${method} gRPC config stream to ${to} closed: ${statusText(status)}`,
    );
    this.#isOutageTold ||= isNews;
    this.#events.onClosed();
    if (status.isAtOnce) {
      // As the real server: it has ended, and it has not been made. Both count, and each is a try.
      this.#events.onClosed();
      this.#attempts++;
    }
    if (this.#isStopped) return;
    const { baseMs, maxMs } = this.#plan.backOff;
    const longest = Math.min(maxMs, baseMs * 2 ** Math.min(this.#attempts++, 30));
    this.#timer = startTimeout(() => this.#open(), Math.random() * longest);
  }

  #drain(): void {
    while (this.#waiting.length > 0 && this.#stream && this.#takeToken()) {
      const encode = this.#waiting.shift();
      if (encode) this.#stream.write(encode(), () => undefined);
    }
    this.#tellPending();
  }

  /** As in the real server, nobody has used it before a request had to wait. */
  #tellPending(): void {
    const count = this.#waiting.length + this.#heldBack;
    if (count === 0 && !this.#hasEverWaited) return;
    this.#hasEverWaited = true;
    this.#gauge('pending_requests', count);
  }

  #takeToken(): boolean {
    const limit = this.#plan.rateLimit;
    if (!limit) return true;
    const nowMs = performance.now();
    const grown = ((nowMs - this.#refilledMs) / 1000) * limit.perSecond;
    this.#tokens = Math.min(limit.burst, this.#tokens + grown);
    this.#refilledMs = nowMs;
    if (this.#tokens >= 1) {
      this.#tokens--;
      return true;
    }
    this.#host.stats.count(`${this.#prefix}rate_limit_enforced`);
    clearTimeout(this.#refill);
    const untilNextMs = ((1 - this.#tokens) / limit.perSecond) * 1000;
    this.#refill = startTimeout(() => this.#drain(), Math.ceil(untilNextMs)).unref();
    return false;
  }

  #gauge(name: string, value: number): void {
    this.#host.stats.setGauge(this.#prefix + name, value);
  }
}
