// envoy.filters.network.local_ratelimit
import type { envoy_extensions_filters_network_local_ratelimit_v3_LocalRateLimit as LocalRateLimit } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { NetworkFilterPlan } from '../../plan/extension-plans.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<LocalRateLimit>(
  'envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit',
  ['stat_prefix', 'token_bucket', 'runtime_enabled', 'share_key'],
);

const LEAST_FILL_INTERVAL_MS = 50;

export const networkLocalRatelimit = defineExtension<LocalRateLimit, NetworkFilterPlan>({
  name: 'envoy.filters.network.local_ratelimit',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const flag = config.runtime_enabled;
    const {
      max_tokens: most,
      tokens_per_fill: perFill,
      fill_interval: intervalMs = 0,
    } = config.token_bucket ?? {};
    if (intervalMs < LEAST_FILL_INTERVAL_MS) {
      place
        .field('token_bucket')
        .field('fill_interval')
        .error('local rate limit token bucket fill timer must be >= 50ms');
    }
    return {
      gates: [
        {
          local_rate_limit: {
            stat_prefix: config.stat_prefix,
            max_tokens: most ?? 0,
            tokens_per_fill: perFill ?? 1,
            fill_interval_us: Math.round(intervalMs * 1000),
            share_key: config.share_key,
            enabled: context.runtime.liveFlag(flag?.runtime_key, flag?.default_value ?? true),
          },
        },
      ],
    };
  },
});
