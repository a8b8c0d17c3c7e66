// So many new connections in a time: of a filter chain, or of a listener.
import type {
  envoy_type_v3_TokenBucket as TokenBucket,
  envoy_config_core_v3_RuntimeFeatureFlag as Flag,
} from '../../build/messages.gen.js';
import type { CompileContext } from './extension.js';
import type { Place } from './message/place.js';
import type { LocalRateLimitFilter } from './plan.gen.js';

const LEAST_FILL_INTERVAL_MS = 50;

interface Limit {
  readonly stat_prefix?: string;
  readonly token_bucket?: TokenBucket;
  readonly runtime_enabled?: Flag;
}

export function compileLocalRateLimit(
  config: Limit,
  place: Place,
  context: CompileContext,
): LocalRateLimitFilter {
  const { runtime_enabled: flag, token_bucket: bucket = {} } = config;
  const { max_tokens: most = 0, tokens_per_fill: perFill = 1, fill_interval: ms = 0 } = bucket;
  if (ms < LEAST_FILL_INTERVAL_MS) {
    place
      .field('token_bucket')
      .field('fill_interval')
      .error('local rate limit token bucket fill timer must be >= 50ms');
  }
  return {
    stat_prefix: config.stat_prefix,
    max_tokens: most,
    tokens_per_fill: perFill,
    fill_interval_us: Math.round(ms * 1000),
    enabled: context.runtime.liveFlag(flag?.runtime_key, flag?.default_value ?? true),
  };
}
