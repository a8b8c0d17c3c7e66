// Datadog: every two seconds the agent is posted what was traced since.
import { unawaited } from '../base/bugs.js';
import { startInterval } from '../base/timers.js';
import type { ClusterHttp } from '../http/cluster-http.js';
import type { ExporterPlan } from '../plan/tracer-plans.js';
import { datadogTraces } from './datadog-encoding.js';
import type { ExporterHost, SpanExporter } from './exporter.js';
import { hasFlag, type SpanRecord } from './span-record.js';

type Plan = Extract<ExporterPlan, { kind: 'datadog' }>;

const STATS = 'tracing.datadog.';
const FLUSH_MS = 2000;
/** Of the library whose messages these are. */
const LIBRARY = 'v2.1.1';
/** Tries whose requests have not ended. */
const MOST_OPEN = 65_536;

export class DatadogExporter implements SpanExporter {
  readonly #plan: Plan;
  readonly #http: ClusterHttp;
  readonly #host: ExporterHost;
  /** By trace and parent: tries at hosts, which end before their request. */
  readonly #open = new Map<string, SpanRecord[]>();
  readonly #posts = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #traces: SpanRecord[][] = [];

  constructor(plan: Plan, http: ClusterHttp, host: ExporterHost) {
    this.#plan = plan;
    this.#http = http;
    this.#host = host;
    this.#timer = startInterval(() => this.#flush(), FLUSH_MS).unref();
  }

  add(spans: readonly SpanRecord[]): void {
    for (const span of spans) this.#put(span);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#flush();
    await Promise.all(this.#posts);
    this.#http.close();
  }

  #put(span: SpanRecord): void {
    if (!hasFlag(span, 'child')) {
      const key = keyOf(span, span.id);
      this.#traces.push([span, ...(this.#open.get(key) ?? [])]);
      this.#open.delete(key);
      return;
    }
    const key = keyOf(span, span.parent);
    const known = this.#open.get(key);
    if (known) known.push(span);
    else if (this.#open.size < MOST_OPEN) this.#open.set(key, [span]);
  }

  #flush(): void {
    const traces = this.#traces;
    this.#traces = [];
    if (traces.length === 0) return;
    if (!this.#http.isThere) {
      this.#host.count(`${STATS}reports_skipped_no_cluster`);
      return;
    }
    const post = this.#post(traces).finally(() => this.#posts.delete(post));
    this.#posts.add(post);
    unawaited('traces for Datadog', post);
  }

  async #post(traces: readonly (readonly SpanRecord[])[]): Promise<void> {
    const { collector } = this.#plan;
    const status = await this.#http.post({
      host: collector.host,
      path: collector.path,
      headers: [
        ['content-type', 'application/msgpack'],
        ['datadog-meta-lang', 'cpp'],
        ['datadog-meta-lang-version', '202002'],
        ['datadog-meta-tracer-version', LIBRARY],
        ['x-datadog-trace-count', String(traces.length)],
      ],
      body: datadogTraces(traces, this.#host.local, this.#plan),
      timeoutMs: collector.timeoutMs,
    });
    const outcome = status === undefined ? 'failed' : status === 200 ? 'sent' : 'dropped';
    this.#host.count(`${STATS}reports_${outcome}`);
  }
}

const keyOf = ({ traceHigh, traceLow }: SpanRecord, id: bigint): string =>
  `${traceHigh} ${traceLow} ${id}`;
