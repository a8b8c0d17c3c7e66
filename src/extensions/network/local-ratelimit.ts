// envoy.filters.network.local_ratelimit
import type { envoy_extensions_filters_network_local_ratelimit_v3_LocalRateLimit as LocalRateLimit } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { NetworkFilterPlan } from '../../plan/extension-plans.js';
import { compileLocalRateLimit } from '../../plan/local-rate-limit.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<LocalRateLimit>(
  'envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit',
  ['stat_prefix', 'token_bucket', 'runtime_enabled', 'share_key'],
);

export const networkLocalRatelimit = defineExtension<LocalRateLimit, NetworkFilterPlan>({
  name: 'envoy.filters.network.local_ratelimit',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const limit = compileLocalRateLimit(config, place, context);
    return { gates: [{ local_rate_limit: { ...limit, share_key: config.share_key } }] };
  },
});
