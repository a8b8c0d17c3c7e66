// What timers fall to when the overload manager reduces timeouts.
import type {
  Any,
  envoy_config_overload_v3_ScaleTimersOverloadActionConfig as ScaleTimers,
  envoy_config_overload_v3_ScaleTimersOverloadActionConfig_ScaleTimer as ScaleTimer,
} from '../../../build/messages.gen.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { TimerMinimum_Timer as Timer, type TimerMinimum } from '../plan.gen.js';

const FIELDS = supportedFields<ScaleTimers>(
  'envoy.config.overload.v3.ScaleTimersOverloadActionConfig',
  ['timer_scale_factors'],
);
const TIMER = supportedFields<ScaleTimer>(`${FIELDS.type}.ScaleTimer`, [
  'timer',
  'min_timeout',
  'min_scale',
]);

/** The message's full name. */
export const SCALE_TIMERS = FIELDS.type;

const TIMERS: Readonly<Record<string, Timer>> = {
  HTTP_DOWNSTREAM_CONNECTION_IDLE: Timer.CONNECTION_IDLE,
  HTTP_DOWNSTREAM_STREAM_IDLE: Timer.STREAM_IDLE,
  TRANSPORT_SOCKET_CONNECT: Timer.TRANSPORT_CONNECT,
  HTTP_DOWNSTREAM_CONNECTION_MAX: Timer.CONNECTION_MAX,
  HTTP_DOWNSTREAM_STREAM_FLUSH: Timer.STREAM_FLUSH,
};

/** `place` undefined: what is wrong has been told already. */
export function compileTimers(config: Any, place: Place | undefined): TimerMinimum[] {
  const { timer_scale_factors: factors = [] } = config as unknown as ScaleTimers;
  if (place) refuseOtherFields(place, config, FIELDS);
  const seen = new Map<string, Place | undefined>();
  return factors.flatMap((factor, index) => {
    const { timer: name = '', min_timeout: timeoutMs, min_scale: scale } = factor;
    const at = place?.field('timer_scale_factors').index(index);
    if (at) refuseOtherFields(at, factor, TIMER);
    if (seen.has(name)) {
      const what = `Found duplicate entry for timer type ${name}`;
      at?.field('timer').error(what, { related: seen.get(name)?.field('timer') });
    }
    seen.set(name, at);
    const timer = TIMERS[name];
    if (timer === undefined) return [];
    const share = Math.round((scale?.value ?? 0) * 10_000);
    return [
      scale && share > 0
        ? { timer, share_millionths: share }
        : { timer, min_ms: wholeMs(timeoutMs, 0) },
    ];
  });
}
