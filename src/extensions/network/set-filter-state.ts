// envoy.filters.network.set_filter_state: texts that are kept with a connection.
import type { envoy_extensions_filters_network_set_filter_state_v3_Config as Message } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { NetworkFilterPlan } from '../../plan/extension-plans.js';
import { compileStateValues } from '../../plan/filter-state.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { ConnectionState_When as When, type ConnectionState } from '../../plan/plan.gen.js';

const FIELDS = supportedFields<Message>(
  'envoy.extensions.filters.network.set_filter_state.v3.Config',
  ['on_new_connection', 'on_downstream_tls_handshake', 'on_downstream_data'],
);
const TIMES = [
  ['on_new_connection', When.CONNECTION],
  ['on_downstream_tls_handshake', When.HANDSHAKE],
  ['on_downstream_data', When.DATA],
] as const;

export const connectionState = defineExtension<Message, NetworkFilterPlan>({
  name: 'envoy.filters.network.set_filter_state',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    return {
      states: TIMES.flatMap(([name, when]): ConnectionState[] =>
        config[name]?.length
          ? [
              {
                when,
                values: compileStateValues(config[name], place.field(name), 'tcp_log', context),
              },
            ]
          : [],
      ),
    };
  },
});
