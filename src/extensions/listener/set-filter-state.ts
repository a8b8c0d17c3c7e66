// envoy.filters.listener.set_filter_state: texts that are kept with a connection as it comes.
import type { envoy_extensions_filters_listener_set_filter_state_v3_Config as Message } from '../../../build/messages.gen.js';
import type { ListenerFilterPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';
import { compileStateValues } from '../../plan/filter-state.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<Message>(
  'envoy.extensions.filters.listener.set_filter_state.v3.Config',
  ['on_accept'],
);

export const acceptState = defineExtension<Message, ListenerFilterPlan>({
  name: 'envoy.filters.listener.set_filter_state',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    return {
      set_filter_state: {
        values: compileStateValues(config.on_accept, place.field('on_accept'), 'tcp_log', context),
      },
    };
  },
});
