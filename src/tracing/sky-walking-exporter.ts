// SkyWalking: a segment for each request, on a stream that lasts. The stream is opened by the first
// segment, and again after its end.
import type { GrpcClient, GrpcStream } from '../grpc/client.js';
import { startTimeout } from '../base/timers.js';
import type { ExporterPlan } from '../plan/tracer-plans.js';
import type { ExporterHost, SpanExporter } from './exporter.js';
import { skyWalkingSegment } from './sky-walking-encoding.js';
import { hasFlag, type SpanRecord } from './span-record.js';

type Plan = Extract<ExporterPlan, { kind: 'skywalking' }>;

const METHOD = '/skywalking.v3.TraceSegmentReportService/collect';
const STATS = 'tracing.skywalking.';
const RETRY_MS = 500;
/** Tries whose requests have not ended. */
const MOST_OPEN = 65_536;

export class SkyWalkingExporter implements SpanExporter {
  readonly #plan: Plan;
  readonly #client: GrpcClient;
  readonly #host: ExporterHost;
  /** By segment. */
  readonly #open = new Map<string, SpanRecord[]>();
  #waiting: Uint8Array[] = [];
  #stream: GrpcStream | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** The client is the exporter's own. */
  constructor(plan: Plan, client: GrpcClient, host: ExporterHost) {
    this.#plan = plan;
    this.#client = client;
    this.#host = host;
    this.#connect();
  }

  add(spans: readonly SpanRecord[]): void {
    for (const span of spans) this.#put(span);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#stream?.end();
    this.#client.close();
    return Promise.resolve();
  }

  #put(span: SpanRecord): void {
    const known = this.#open.get(span.segment);
    if (hasFlag(span, 'child')) {
      if (known) known.push(span);
      else if (this.#open.size < MOST_OPEN) this.#open.set(span.segment, [span]);
      return;
    }
    this.#open.delete(span.segment);
    this.#report(skyWalkingSegment([span, ...(known ?? [])], this.#host.local, this.#plan));
  }

  #report(segment: Uint8Array): void {
    if (this.#stream) {
      this.#send(segment);
    } else if (this.#waiting.length < this.#plan.maxCacheSize) {
      this.#waiting.push(segment);
    } else {
      this.#host.count(`${STATS}segments_dropped`);
    }
  }

  #send(segment: Uint8Array): void {
    this.#stream?.write(Buffer.from(segment), () => undefined);
    this.#host.count(`${STATS}segments_sent`);
  }

  #connect(): void {
    if (!this.#client.isThere) {
      this.#onEnd();
      return;
    }
    const stream = this.#client.open(METHOD, {
      onMessage: () => undefined,
      onEnd: () => {
        if (this.#stream === stream) this.#onEnd();
      },
    });
    this.#stream = stream;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const segment of waiting) this.#send(segment);
    if (waiting.length === 0) return;
    this.#host.count(`${STATS}cache_flushed`);
    this.#host.count(`${STATS}segments_flushed`, waiting.length);
  }

  #onEnd(): void {
    this.#stream = undefined;
    if (this.#isClosed) return;
    this.#retry = startTimeout(() => this.#connect(), RETRY_MS).unref();
  }
}
