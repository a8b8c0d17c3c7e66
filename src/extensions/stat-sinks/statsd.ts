// envoy.stat_sinks.statsd
import type { envoy_config_metrics_v3_StatsdSink as StatsdSink } from '../../../build/messages.gen.js';
import { SinkFormat_Kind } from '../../plan/plan.gen.js';
import { nodeRequired } from '../../plan/message/node-required.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { SinkPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';
import { compileDatagramAddress } from './datagram-address.js';

/** No histogram here has a unit finer than the millisecond: there is nothing to scale. */
const FIELDS = supportedFields<StatsdSink>('envoy.config.metrics.v3.StatsdSink', [
  'address',
  'tcp_cluster_name',
  'prefix',
  'scale_histogram_units_to_milliseconds',
]);

export const DEFAULT_PREFIX = 'envoy';

export const statsd = defineExtension<StatsdSink, SinkPlan | undefined>({
  name: 'envoy.stat_sinks.statsd',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const format = { kind: SinkFormat_Kind.STATSD, prefix: config.prefix || DEFAULT_PREFIX };
    if (config.tcp_cluster_name !== undefined) {
      const cluster = config.tcp_cluster_name;
      if (!context.hasNode) {
        place.error(nodeRequired('tcp statsd'));
      }
      if (!context.clusterNames.has(cluster)) {
        place.field('tcp_cluster_name').error(`tcp statsd: unknown cluster '${cluster}'`, {
          expected: 'the name of a static cluster',
        });
      }
      return { kind: 'lines', format, cluster };
    }
    const address = compileDatagramAddress(config.address, place.field('address'));
    return address && { kind: 'datagrams', format: { ...format, datagrams: { address } } };
  },
});
