import type { envoy_type_v3_TokenBucket as Message } from '../../build/messages.gen.js';
import type { Place } from './message/place.js';
import type { TokenBucket } from './plan.gen.js';

const LEAST_FILL_INTERVAL_MS = 50;

/** Of what is limited in this process. */
export function compileTokenBucket(message: Message, place: Place): TokenBucket {
  const intervalMs = message.fill_interval ?? 0;
  if (intervalMs < LEAST_FILL_INTERVAL_MS) {
    place.field('fill_interval').error('local rate limit token bucket fill timer must be >= 50ms');
  }
  return {
    max_tokens: message.max_tokens,
    tokens_per_fill: message.tokens_per_fill ?? 1,
    fill_interval_us: Math.round(intervalMs * 1000),
  };
}
