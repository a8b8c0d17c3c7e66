// envoy.stat_sinks.hystrix
import type { envoy_config_metrics_v3_HystrixSink as HystrixSink } from '../../../build/messages.gen.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { SinkPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';

const FIELDS = supportedFields<HystrixSink>('envoy.config.metrics.v3.HystrixSink', ['num_buckets']);

const DEFAULT_BUCKETS = 10;
/** A window of a year, flushed each second, is as much as anybody may want. */
const MAX_BUCKETS = 31_536_000;

export const hystrix = defineExtension<HystrixSink, SinkPlan | undefined>({
  name: 'envoy.stat_sinks.hystrix',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    const buckets = config.num_buckets ?? 0;
    if (buckets > MAX_BUCKETS) {
      place
        .field('num_buckets')
        .error(`num_buckets ${buckets} is more than memory can be kept for`, {
          expected: `at most ${MAX_BUCKETS}`,
        });
      return undefined;
    }
    return { kind: 'hystrix', buckets: buckets > 0 ? buckets : DEFAULT_BUCKETS };
  },
});
