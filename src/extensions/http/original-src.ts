// envoy.filters.http.original_src: hosts see the address of the request's client.
import type { envoy_extensions_filters_http_original_src_v3_OriginalSrc as OriginalSrc } from '../../../build/messages.gen.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<OriginalSrc>(
  'envoy.extensions.filters.http.original_src.v3.OriginalSrc',
  ['mark'],
);

export const originalSrcFilter = defineExtension<OriginalSrc, HttpFilterPlan>({
  name: 'envoy.filters.http.original_src',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return { original_src: { mark: config.mark } };
  },
});
