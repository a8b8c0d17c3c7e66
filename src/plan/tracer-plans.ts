// What becomes of finished spans: the tracers of a configuration, each once.
import type { OtlpCollector } from './extension-plans.js';
import type { GrpcServicePlan } from './service-plan.js';
import type { HttpServicePlan } from './http-service.js';
import type { Tracing } from './plan.gen.js';

/** Where spans go; what the data plane has to know of it is apart (TracerPlan). */
export type ExporterPlan =
  | {
      readonly kind: 'zipkin';
      readonly collector: HttpServicePlan;
      readonly encoding: 'json' | 'proto';
      /** Spans of servers say that they are those of their clients. */
      readonly isShared: boolean;
    }
  | {
      readonly kind: 'opentelemetry';
      readonly collector: OtlpCollector;
      /** Of the resource. */
      readonly attributes: Readonly<Record<string, string>>;
      readonly hasScope: boolean;
      readonly maxCacheSize: number;
    }
  | {
      readonly kind: 'datadog';
      readonly collector: HttpServicePlan;
      readonly service: string;
      readonly env: string;
      readonly version: string;
    }
  | {
      readonly kind: 'skywalking';
      readonly service: GrpcServicePlan;
      readonly token: string;
      readonly serviceName: string;
      readonly instanceName: string;
      readonly maxCacheSize: number;
    };

/** What a tracer becomes. */
export interface TracerPlan {
  readonly spans: Pick<Tracing, 'kind' | 'zipkin' | 'sampler' | 'service' | 'instance'>;
  readonly exporter: ExporterPlan;
}

export class TracerPlans {
  readonly #plans: ExporterPlan[] = [];
  readonly #numbers = new Map<string, number>();
  #onAdded: ((number: number, plan: ExporterPlan) => void) | undefined;

  /** The number that its spans carry, from 1. One that says the same is the same. */
  add(plan: ExporterPlan): number {
    const text = JSON.stringify(plan);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#plans.push(plan);
    this.#numbers.set(text, number);
    this.#onAdded?.(number, plan);
    return number;
  }

  /** Hears of all that there are, and that come. */
  follow(onAdded: (number: number, plan: ExporterPlan) => void): void {
    this.#onAdded = onAdded;
    this.#plans.forEach((plan, index) => onAdded(index + 1, plan));
  }
}
