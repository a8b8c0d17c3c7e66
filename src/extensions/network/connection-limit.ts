// envoy.filters.network.connection_limit
import type { envoy_extensions_filters_network_connection_limit_v3_ConnectionLimit as ConnectionLimit } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { NetworkFilterPlan } from '../../plan/extension-plans.js';
import { wholeMs } from '../../plan/message/numbers.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<ConnectionLimit>(
  'envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit',
  ['stat_prefix', 'max_connections', 'delay', 'runtime_enabled'],
);

export const connectionLimit = defineExtension<ConnectionLimit, NetworkFilterPlan>({
  name: 'envoy.filters.network.connection_limit',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    if (config.max_connections === undefined) {
      place.error("Field 'max_connections' is missing", { expected: 'max_connections' });
    }
    const flag = config.runtime_enabled;
    if (config.max_connections === undefined) {
      place.field('max_connections').error("Field 'max_connections' is missing", {
        expected: 'a number of at least 1',
      });
    }
    return {
      gates: [
        {
          connection_limit: {
            stat_prefix: config.stat_prefix,
            max_connections: config.max_connections ?? 0,
            delay_ms: wholeMs(config.delay, 0),
            enabled: context.runtime.liveFlag(flag?.runtime_key, flag?.default_value ?? true),
          },
        },
      ],
    };
  },
});
