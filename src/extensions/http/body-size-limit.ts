// envoy.filters.http.body_size_limit
import type { envoy_extensions_filters_http_body_size_limit_v3_BodySizeLimit as Message } from '../../../build/messages.gen.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<Message>(
  'envoy.extensions.filters.http.body_size_limit.v3.BodySizeLimit',
  ['max_request_bytes'],
);

export const bodySizeLimit = defineExtension<Message, HttpFilterPlan>({
  name: 'envoy.filters.http.body_size_limit',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return { body_size_limit: { max_request_bytes: config.max_request_bytes } };
  },
});
