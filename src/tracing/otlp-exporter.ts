// OpenTelemetry: spans go to a collector over gRPC, or are posted to it.
import { unawaited } from '../base/bugs.js';
import { startTimeout } from '../base/timers.js';
import type { OtlpSender } from '../otlp/otlp-senders.js';
import type { ExporterPlan } from '../plan/tracer-plans.js';
import type { ExporterHost, SpanExporter } from './exporter.js';
import { otlpSpans } from './otlp-spans.js';
import { SpanBuffers } from './span-buffers.js';
import type { SpanRecord } from './span-record.js';

type Plan = Extract<ExporterPlan, { kind: 'opentelemetry' }>;

const STATS = 'tracing.opentelemetry.';
const MIN_SPANS = 5;
const FLUSH_MS = 5000;

export class OtlpExporter implements SpanExporter {
  readonly #plan: Plan;
  readonly #sender: OtlpSender;
  readonly #host: ExporterHost;
  readonly #buffers = new SpanBuffers();
  readonly #requests = new Set<Promise<void>>();
  #timer: NodeJS.Timeout;
  #isDown = false;

  constructor(plan: Plan, sender: OtlpSender, host: ExporterHost) {
    this.#plan = plan;
    this.#sender = sender;
    this.#host = host;
    this.#timer = this.#startTimer();
  }

  add(spans: readonly SpanRecord[]): void {
    const size = this.#host.number(`${STATS}min_flush_spans`, MIN_SPANS);
    for (const span of spans) this.#put(span);
    for (const group of this.#buffers.full(size)) this.#send(group);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    for (const group of this.#buffers.rest()) this.#send(group);
    await Promise.all(this.#requests);
    this.#sender.close();
  }

  /** As the real server: what finds no room is lost, and what is there is sent. */
  #put(span: SpanRecord): void {
    if (this.#buffers.sizeOf(span.worker) < this.#plan.maxCacheSize) {
      this.#buffers.add(span);
      return;
    }
    this.#host.count(`${STATS}spans_dropped`);
    for (const group of this.#buffers.rest()) this.#send(group);
  }

  #startTimer(): NodeJS.Timeout {
    const ms = this.#host.number(`${STATS}flush_interval_ms`, FLUSH_MS);
    return startTimeout(() => {
      this.#host.count(`${STATS}timer_flushed`, this.#host.local.threads);
      for (const group of this.#buffers.rest()) this.#send(group);
      this.#timer = this.#startTimer();
    }, ms).unref();
  }

  #send(spans: readonly SpanRecord[]): void {
    this.#host.count(`${STATS}spans_sent`, spans.length);
    const request = this.#sender
      .send(otlpSpans(spans, this.#host.local, this.#plan))
      .then((failure) => this.#tell(failure))
      .finally(() => this.#requests.delete(request));
    this.#requests.add(request);
    unawaited('a request with spans', request);
  }

  /** Once, and once more when it is over. */
  #tell(failure: string | undefined): void {
    if (failure !== undefined && !this.#isDown) {
      this.#host.warn(`OTLP exporter: ${failure}; spans are lost until the collector is back`);
    }
    if (failure === undefined && this.#isDown) this.#host.info('OTLP exporter: is back');
    this.#isDown = failure !== undefined;
  }
}
