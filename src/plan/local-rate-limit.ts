// So many new connections in a time: of a filter chain, or of a listener.
import type {
  envoy_type_v3_TokenBucket as TokenBucket,
  envoy_config_core_v3_RuntimeFeatureFlag as Flag,
} from '../../build/messages.gen.js';
import type { CompileContext } from './extension.js';
import type { Place } from './message/place.js';
import type { LocalRateLimitFilter } from './plan.gen.js';
import { compileTokenBucket } from './token-bucket.js';

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
  return {
    stat_prefix: config.stat_prefix,
    ...compileTokenBucket(bucket, place.field('token_bucket')),
    enabled: context.runtime.liveFlag(flag?.runtime_key, flag?.default_value ?? true),
  };
}
