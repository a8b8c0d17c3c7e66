// A stream to a service that is opened anew after its end, with growing pauses.
import { startTimeout } from '../base/timers.js';
import type { GrpcClient, GrpcStream } from '../grpc/client.js';
import { statusText, type GrpcStatus } from '../grpc/status.js';
import type { Level } from '../logging/levels.js';

export interface ReconnectingEvents {
  /** Nothing has been sent on it yet. */
  onOpen(send: (message: Uint8Array) => void): void;
  onMessage(bytes: Buffer): void;
  onClosed(status: GrpcStatus): void;
  /** It is about to be opened anew. */
  onRetry?(): void;
}

/** Before a stream is opened anew. */
export interface Pauses {
  /** The longest of the first pause; each is some part of its longest. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** Each takes as long as the first, and no less. */
  readonly isFixed?: boolean;
}

export class ReconnectingStream {
  readonly #method: string;
  readonly #pauses: Pauses;
  readonly #makeClient: () => Promise<GrpcClient>;
  readonly #events: ReconnectingEvents;
  readonly #log: (level: Level, message: string) => void;
  #client: GrpcClient | undefined;
  #stream: GrpcStream | undefined;
  #timer: NodeJS.Timeout | undefined;
  #attempts = 0;
  #isStopped = false;

  constructor(
    method: string,
    pauses: Pauses,
    makeClient: () => Promise<GrpcClient>,
    log: (level: Level, message: string) => void,
    events: ReconnectingEvents,
  ) {
    this.#method = method;
    this.#pauses = pauses;
    this.#makeClient = makeClient;
    this.#log = log;
    this.#events = events;
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
    this.#stream?.cancel();
    this.#stream = undefined;
    this.#client?.close();
  }

  /** What has come on it makes no sense: there is another stream. */
  breakOff(message: string): void {
    const stream = this.#stream;
    // Once of each: what came with it may make no sense, either.
    if (!stream) return;
    stream.cancel();
    this.#end({ code: 'INTERNAL', message });
  }

  #open(): void {
    if (!this.#client || this.#isStopped) return;
    const stream = this.#client.open(this.#method, {
      onMessage: (bytes) => {
        // What came along with what the stream was broken off for.
        if (this.#stream !== stream) return;
        this.#attempts = 0;
        this.#events.onMessage(bytes);
      },
      onEnd: (status) => this.#end(status),
    });
    this.#stream = stream;
    this.#events.onOpen((message) => {
      // What is written to one that has ended is lost with it.
      if (this.#stream === stream) stream.write(Buffer.from(message), () => undefined);
    });
  }

  #end(status: GrpcStatus): void {
    this.#stream = undefined;
    this.#log('warning', `${this.#method} closed: ${statusText(status)}`);
    this.#events.onClosed(status);
    if (this.#isStopped) return;
    this.#timer = startTimeout(() => {
      this.#events.onRetry?.();
      this.#open();
    }, this.#pauseMs()).unref();
  }

  #pauseMs(): number {
    const { firstMs, longestMs, isFixed } = this.#pauses;
    if (isFixed) return firstMs;
    return Math.random() * Math.min(longestMs, firstMs * 2 ** Math.min(this.#attempts++, 20));
  }
}
