// Zipkin: reports of a few spans each are posted to a collector.
import { unawaited } from '../base/bugs.js';
import { startTimeout } from '../base/timers.js';
import type { ClusterHttp } from '../http/cluster-http.js';
import type { ExporterPlan } from '../plan/tracer-plans.js';
import type { ExporterHost, SpanExporter } from './exporter.js';
import { SpanBuffers } from './span-buffers.js';
import type { SpanRecord } from './span-record.js';
import { zipkinJson, zipkinProto } from './zipkin-encoding.js';

type Plan = Extract<ExporterPlan, { kind: 'zipkin' }>;

const STATS = 'tracing.zipkin.';
const ACCEPTED = 202;
const MIN_SPANS = 5;
const FLUSH_MS = 5000;
const TIMEOUT_MS = 5000;
const CONTENT_TYPES = { json: 'application/json', proto: 'application/x-protobuf' } as const;

export class ZipkinExporter implements SpanExporter {
  readonly #plan: Plan;
  readonly #http: ClusterHttp;
  readonly #host: ExporterHost;
  readonly #buffers = new SpanBuffers();
  readonly #posts = new Set<Promise<void>>();
  #timer: NodeJS.Timeout;

  constructor(plan: Plan, http: ClusterHttp, host: ExporterHost) {
    this.#plan = plan;
    this.#http = http;
    this.#host = host;
    this.#timer = this.#startTimer();
  }

  add(spans: readonly SpanRecord[]): void {
    for (const span of spans) this.#buffers.add(span);
    const size = this.#host.number(`${STATS}min_flush_spans`, MIN_SPANS);
    for (const group of this.#buffers.full(size)) this.#send(group);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    for (const group of this.#buffers.rest()) this.#send(group);
    await Promise.all(this.#posts);
    this.#http.close();
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
    if (!this.#http.isThere) {
      this.#host.count(`${STATS}reports_skipped_no_cluster`);
      return;
    }
    const post = this.#post(spans).finally(() => this.#posts.delete(post));
    this.#posts.add(post);
    unawaited('a report of spans', post);
  }

  async #post(spans: readonly SpanRecord[]): Promise<void> {
    const { collector, encoding, isShared } = this.#plan;
    const encode = encoding === 'json' ? zipkinJson : zipkinProto;
    const status = await this.#http.post({
      host: collector.host,
      path: collector.path,
      headers: [['content-type', CONTENT_TYPES[encoding]], ...collector.headers],
      body: encode(spans, this.#host.local, isShared),
      timeoutMs: this.#host.number(`${STATS}request_timeout`, TIMEOUT_MS),
    });
    const outcome = status === undefined ? 'failed' : status === ACCEPTED ? 'sent' : 'dropped';
    this.#host.count(`${STATS}reports_${outcome}`);
  }
}
