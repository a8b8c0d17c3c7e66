// Where finished spans go: loaded once something is traced, by the bootstrap or by a listener that comes.
import { unawaited } from '../base/bugs.js';
import type { ExporterPlan, TracerPlans } from '../plan/tracer-plans.js';
import type { Tracers, TracersHost } from '../tracing/tracers.js';

export class SpanExport {
  readonly #host: TracersHost;
  #tracers: Promise<Tracers> | undefined;
  /** Until hosts of clusters are known, whom tracers may ask at once. */
  #waiting: [number, ExporterPlan][] | undefined = [];

  constructor(plans: TracerPlans, host: TracersHost) {
    this.#host = host;
    plans.follow((number, plan) => {
      // Before any page can show them.
      host.native.addTracerStats(plan.kind);
      if (this.#waiting) this.#waiting.push([number, plan]);
      else this.#add(number, plan);
    });
  }

  /** Clusters of the bootstrap have their hosts. */
  start(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const [number, plan] of waiting) this.#add(number, plan);
  }

  async close(): Promise<void> {
    await (await this.#tracers)?.close();
  }

  #add(number: number, plan: ExporterPlan): void {
    this.#tracers ??= this.#load();
    unawaited(
      'a tracer',
      this.#tracers.then((tracers) => tracers.add(number, plan)),
    );
  }

  async #load(): Promise<Tracers> {
    const module = await import('../tracing/tracers.js');
    return new module.Tracers(this.#host);
  }
}
