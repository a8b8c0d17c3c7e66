// Where statistics are sent, as the configuration has it.
import type { GrpcServicePlan } from './service-plan.js';
import type { SinkFormat } from './plan.gen.js';

export type SinkPlan =
  /** Lines that the data plane sends as datagrams itself. */
  | { readonly kind: 'datagrams'; readonly format: SinkFormat }
  /** Lines over a connection to the cluster. */
  | { readonly kind: 'lines'; readonly format: SinkFormat; readonly cluster: string }
  /** envoy.service.metrics.v3.MetricsService */
  | {
      readonly kind: 'metrics';
      readonly format: SinkFormat;
      readonly service: GrpcServicePlan;
      /** How many metrics a message may have; 0: any number. */
      readonly batchSize: number;
    }
  | { readonly kind: 'hystrix'; readonly buckets: number };
