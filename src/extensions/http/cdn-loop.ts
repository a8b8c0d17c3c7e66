// envoy.filters.http.cdn_loop
import type { envoy_extensions_filters_http_cdn_loop_v3_CdnLoopConfig as Message } from '../../../build/messages.gen.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<Message>('envoy.extensions.filters.http.cdn_loop.v3.CdnLoopConfig', [
  'cdn_id',
  'max_allowed_occurrences',
]);

/** A host, with or without a port, or a word (RFC 8586, 2). */
const ID = /^(?:[\w!#$%&'*+.^`|~-]+|\[[\da-fA-F:.]*\])(?::\d*)?$/;

export const cdnLoop = defineExtension<Message, HttpFilterPlan>({
  name: 'envoy.filters.http.cdn_loop',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    const { cdn_id: id = '' } = config;
    if (!ID.test(id)) {
      place.field('cdn_id').error(`Provided cdn_id "${id}" is not a valid CDN identifier`);
    }
    return { cdn_loop: { id, most_occurrences: config.max_allowed_occurrences } };
  },
});
