// envoy.filters.listener.local_ratelimit
import type { envoy_extensions_filters_listener_local_ratelimit_v3_LocalRateLimit as LocalRateLimit } from '../../../build/messages.gen.js';
import type { ListenerFilterPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';
import { compileLocalRateLimit } from '../../plan/local-rate-limit.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<LocalRateLimit>(
  'envoy.extensions.filters.listener.local_ratelimit.v3.LocalRateLimit',
  ['stat_prefix', 'token_bucket', 'runtime_enabled'],
);

export const listenerLocalRatelimit = defineExtension<LocalRateLimit, ListenerFilterPlan>({
  name: 'envoy.filters.listener.local_ratelimit',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    return { local_rate_limit: compileLocalRateLimit(config, place, context) };
  },
});
