// OpenTelemetry: each flush is sent as a request, or several.
import { unawaited } from '../base/bugs.js';
import { atMost } from '../base/patience.js';
import type { OtlpSender } from '../otlp/otlp-senders.js';
import type { SinkPlan } from '../plan/extension-plans.js';
import { readMetrics, type Metric } from './metric-families.js';
import { otlpMetrics } from './otlp-metrics.js';
import { Outage } from './outage.js';
import type { SinkHost, StatsSink } from './sink.js';

const CLOSE_MS = 1000;
const NS_PER_MS = 1_000_000n;
const nowNs = (): bigint => BigInt(Date.now()) * NS_PER_MS;

export class OtlpSink implements StatsSink {
  readonly #plan: Extract<SinkPlan, { kind: 'otlp' }>;
  readonly #sender: OtlpSender;
  readonly #outage: Outage;
  readonly #requests = new Set<Promise<void>>();
  readonly #startNs = nowNs();
  #lastNs = this.#startNs;
  #metrics: Metric[] = [];

  /** The sender is the sink's own. */
  constructor(plan: Extract<SinkPlan, { kind: 'otlp' }>, sender: OtlpSender, host: SinkHost) {
    this.#plan = plan;
    this.#sender = sender;
    this.#outage = new Outage('OpenTelemetry collector', host);
  }

  write(piece: Buffer): void {
    const { maxPoints } = this.#plan;
    for (const metric of readMetrics(piece)) {
      this.#metrics.push(metric);
      if (maxPoints > 0 && this.#metrics.length >= maxPoints) this.#send();
    }
  }

  end(): void {
    this.#send();
    this.#lastNs = nowNs();
  }

  async close(): Promise<void> {
    await atMost(CLOSE_MS, Promise.all(this.#requests));
    this.#sender.close();
  }

  #send(): void {
    const metrics = this.#metrics;
    this.#metrics = [];
    if (metrics.length === 0) return;
    const isDelta = this.#plan.countersAreDeltas || this.#plan.histogramsAreDeltas;
    const times = { startNs: isDelta ? this.#lastNs : this.#startNs, nowNs: nowNs() };
    const request = this.#sender
      .send(otlpMetrics(metrics, this.#plan, times))
      .then((failure) => {
        if (failure === undefined) this.#outage.end();
        else this.#outage.begin(failure);
      })
      .finally(() => this.#requests.delete(request));
    this.#requests.add(request);
    unawaited('statistics for OpenTelemetry', request);
  }
}
