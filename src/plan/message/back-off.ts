// How long pauses between tries are (envoy.config.core.v3.BackoffStrategy).
import type { envoy_config_core_v3_BackoffStrategy as BackoffStrategy } from '../../../build/messages.gen.js';
import { wholeMs } from './numbers.js';
import type { Place } from './place.js';

export interface BackOffPlan {
  readonly baseMs: number;
  readonly maxMs: number;
}

export function compileBackOff(
  message: BackoffStrategy,
  place: Place,
  defaultBaseMs: number,
): BackOffPlan {
  const baseMs = wholeMs(message.base_interval, defaultBaseMs);
  const maxMs = wholeMs(message.max_interval, baseMs * 10);
  refuseShorter(
    { baseMs, maxMs },
    place,
    'max_interval must be greater than or equal to the base_interval',
  );
  return { baseMs, maxMs };
}

/** A longest pause that is shorter than the first; `why`: in the words of the real server. */
export function refuseShorter({ baseMs, maxMs }: BackOffPlan, place: Place, why: string): void {
  if (maxMs >= baseMs) return;
  place.field('max_interval').error(why, {
    expected: `at least ${baseMs / 1000}s`,
    related: place.field('base_interval'),
  });
}
