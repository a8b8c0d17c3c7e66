// Where finished spans go: loaded once something is traced, by the bootstrap or by a listener that comes.
import { unawaited } from '../base/bugs.js';
import type { TracerPlans } from '../plan/tracer-plans.js';
import type { Tracers, TracersHost } from '../tracing/tracers.js';

export class SpanExport {
  readonly #host: TracersHost;
  #tracers: Promise<Tracers> | undefined;

  constructor(plans: TracerPlans, host: TracersHost) {
    this.#host = host;
    plans.follow((number, plan) => {
      // Before any page can show them.
      host.native.addTracerStats(plan.kind);
      this.#tracers ??= this.#load();
      unawaited(
        'a tracer',
        this.#tracers.then((tracers) => tracers.add(number, plan)),
      );
    });
  }

  async close(): Promise<void> {
    await (await this.#tracers)?.close();
  }

  async #load(): Promise<Tracers> {
    const module = await import('../tracing/tracers.js');
    return new module.Tracers(this.#host);
  }
}
