// envoy.stat_sinks.dog_statsd
import type { envoy_config_metrics_v3_DogStatsdSink as DogStatsdSink } from '../../../build/messages.gen.js';
import { SinkFormat_Kind } from '../../plan/plan.gen.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { SinkPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';
import { compileDatagramAddress } from './datagram-address.js';
import { DEFAULT_PREFIX } from './statsd.js';

/** As in statsd.ts, there is nothing to scale. */
const FIELDS = supportedFields<DogStatsdSink>('envoy.config.metrics.v3.DogStatsdSink', [
  'address',
  'prefix',
  'max_bytes_per_datagram',
  'scale_histogram_units_to_milliseconds',
]);

export const dogStatsd = defineExtension<DogStatsdSink, SinkPlan | undefined>({
  name: 'envoy.stat_sinks.dog_statsd',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    const address = compileDatagramAddress(config.address, place.field('address'));
    if (!address) return undefined;
    const format = {
      kind: SinkFormat_Kind.DOG_STATSD,
      prefix: config.prefix || DEFAULT_PREFIX,
      datagrams: { address, max_bytes: config.max_bytes_per_datagram ?? 0 },
    };
    return { kind: 'datagrams', format };
  },
});
