// envoy.filters.listener.original_src: hosts see the client's address.
import type { envoy_extensions_filters_listener_original_src_v3_OriginalSrc as OriginalSrc } from '../../../build/messages.gen.js';
import type { ListenerFilterPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<OriginalSrc>(
  'envoy.extensions.filters.listener.original_src.v3.OriginalSrc',
  ['bind_port', 'mark'],
);

export const originalSrc = defineExtension<OriginalSrc, ListenerFilterPlan>({
  name: 'envoy.filters.listener.original_src',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return { original_src: { binds_port: config.bind_port, mark: config.mark } };
  },
});
