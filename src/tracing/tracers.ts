// The tracers that connection managers have: takes finished spans from the data plane and gives each to
// whoever sends it. None of it is loaded by a configuration that traces nothing.
import { unawaited } from '../base/bugs.js';
import { atMost } from '../base/patience.js';
import { startTimeout } from '../base/timers.js';
import type { GrpcClients } from '../grpc/clients.js';
import type { ClusterNative, StatsHost } from '../grpc/cluster-stats.js';
import { ClusterHttp } from '../http/cluster-http.js';
import type { NativeProxy } from '../native.js';
import { OtlpGrpcSender, OtlpHttpSender, type OtlpSender } from '../otlp/otlp-senders.js';
import type { ClusterLookup, GrpcServicePlan } from '../plan/service-plan.js';
import type { ExporterPlan } from '../plan/tracer-plans.js';
import { DatadogExporter } from './datadog-exporter.js';
import type { ExporterHost, SpanExporter } from './exporter.js';
import { OtlpExporter } from './otlp-exporter.js';
import { SkyWalkingExporter } from './sky-walking-exporter.js';
import { readSpans, type SpanRecord } from './span-record.js';
import { ZipkinExporter } from './zipkin-exporter.js';

/** Where as many spans come at once, later ones wait so long to be looked at together. */
const MANY = 16;
const GATHER_MS = 10;
/** What collectors get to take the rest when the server ends. */
const CLOSE_MS = 1000;

const OTLP_METHOD = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

export interface TracersHost extends ExporterHost {
  readonly native: ClusterNative &
    Pick<NativeProxy, 'onSpans' | 'takeSpans' | 'droppedSpans' | 'addTracerStats'>;
  readonly stats: StatsHost;
  readonly clusters: ClusterLookup;
}

export class Tracers {
  readonly #host: TracersHost;
  /** By the number that spans carry. */
  readonly #exporters = new Map<number, Promise<SpanExporter>>();
  #clients: GrpcClients | undefined;
  #isGathering = false;
  #isBusy = false;
  #lost = 0;

  constructor(host: TracersHost) {
    this.#host = host;
    host.native.onSpans(() => this.#gather());
  }

  /** Under the number that its spans carry. */
  add(number: number, plan: ExporterPlan): void {
    this.#exporters.set(number, this.#make(plan));
  }

  /** Sends what there is; resolves when it has left, or has had its time. */
  async close(): Promise<void> {
    this.#take();
    const closing = [...this.#exporters.values()].map(async (exporter) => (await exporter).close());
    await atMost(CLOSE_MS, Promise.all(closing));
  }

  async #make(plan: ExporterPlan): Promise<SpanExporter> {
    switch (plan.kind) {
      case 'zipkin':
        return new ZipkinExporter(plan, this.#http(plan.collector.cluster), this.#host);
      case 'datadog':
        return new DatadogExporter(plan, this.#http(plan.collector.cluster), this.#host);
      case 'opentelemetry':
        return new OtlpExporter(plan, await this.#otlpSender(plan.collector), this.#host);
      case 'skywalking':
        return new SkyWalkingExporter(plan, await this.#grpc(plan.service), this.#host);
    }
  }

  #http(cluster: string): ClusterHttp {
    const { native, stats, clusters, local } = this.#host;
    return new ClusterHttp(cluster, clusters, { native, stats }, local.address);
  }

  async #grpc(service: GrpcServicePlan): ReturnType<GrpcClients['make']> {
    const { native, stats } = this.#host;
    const module = await import('../grpc/clients.js');
    this.#clients ??= new module.GrpcClients(native, stats);
    return this.#clients.make(service);
  }

  async #otlpSender(
    collector: Extract<ExporterPlan, { kind: 'opentelemetry' }>['collector'],
  ): Promise<OtlpSender> {
    switch (collector.how) {
      case 'http':
        return new OtlpHttpSender(this.#http(collector.service.cluster), collector.service);
      case 'grpc':
        return new OtlpGrpcSender(await this.#grpc(collector.service), OTLP_METHOD);
    }
  }

  #gather(): void {
    if (this.#isGathering) return;
    if (!this.#isBusy) {
      this.#take();
      return;
    }
    this.#isGathering = true;
    startTimeout(() => {
      this.#isGathering = false;
      this.#take();
    }, GATHER_MS).unref();
  }

  #take(): void {
    const byTracer = new Map<number, SpanRecord[]>();
    let count = 0;
    for (const span of readSpans(this.#host.native.takeSpans())) {
      count++;
      const known = byTracer.get(span.tracer);
      if (known) known.push(span);
      else byTracer.set(span.tracer, [span]);
    }
    this.#isBusy = count >= MANY;
    for (const [number, spans] of byTracer) {
      const exporter = this.#exporters.get(number);
      if (exporter)
        unawaited(
          'spans',
          exporter.then((one) => one.add(spans)),
        );
    }
    this.#tellLost();
  }

  #tellLost(): void {
    const lost = this.#host.native.droppedSpans();
    if (lost === this.#lost) return;
    this.#host.warn(`${lost - this.#lost} spans came too fast to be sent`);
    this.#lost = lost;
  }
}
