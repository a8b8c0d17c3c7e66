// envoy.filters.network.direct_response: sends a text and closes.
import type { envoy_extensions_filters_network_direct_response_v3_Config as Config } from '../../../build/messages.gen.js';
import { readDataSource } from '../../plan/message/data-source.js';
import type { NetworkFilterPlan } from '../../plan/extension-plans.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { defineExtension } from '../../plan/extension.js';

const FIELDS = supportedFields<Config>(
  'envoy.extensions.filters.network.direct_response.v3.Config',
  ['response'],
);

export const directResponse = defineExtension<Config, NetworkFilterPlan>({
  name: 'envoy.filters.network.direct_response',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return { direct_response: { body: readDataSource(config.response, place.field('response')) } };
  },
});
