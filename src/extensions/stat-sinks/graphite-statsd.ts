// envoy.stat_sinks.graphite_statsd
import type { envoy_extensions_stat_sinks_graphite_statsd_v3_GraphiteStatsdSink as GraphiteStatsdSink } from '../../../build/messages.gen.js';
import { SinkFormat_Kind } from '../../plan/plan.gen.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { SinkPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';
import { compileDatagramAddress } from './datagram-address.js';
import { DEFAULT_PREFIX } from './statsd.js';

const FIELDS = supportedFields<GraphiteStatsdSink>(
  'envoy.extensions.stat_sinks.graphite_statsd.v3.GraphiteStatsdSink',
  ['address', 'prefix', 'max_bytes_per_datagram', 'scale_histogram_units_to_milliseconds'],
);

export const graphiteStatsd = defineExtension<GraphiteStatsdSink, SinkPlan | undefined>({
  name: 'envoy.stat_sinks.graphite_statsd',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    const address = compileDatagramAddress(config.address, place.field('address'));
    if (!address) return undefined;
    const format = {
      kind: SinkFormat_Kind.GRAPHITE,
      prefix: config.prefix || DEFAULT_PREFIX,
      datagrams: { address, max_bytes: config.max_bytes_per_datagram ?? 0 },
    };
    return { kind: 'datagrams', format };
  },
});
