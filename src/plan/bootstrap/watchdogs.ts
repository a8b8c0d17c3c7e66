// How long threads may be away from their loops before that is counted, told of, or ends the process.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_bootstrap_v3_Watchdog as WatchdogMessage,
  envoy_config_bootstrap_v3_Watchdog_WatchdogAction as ActionMessage,
  envoy_config_bootstrap_v3_Watchdogs as WatchdogsMessage,
} from '../../../build/messages.gen.js';
import { findExtension, type CompileContext } from '../extension.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import {
  WatchdogAction_Event as Event,
  type Watchdog,
  type WatchdogAction,
  type Watchdogs,
} from '../plan.gen.js';

const WATCHDOGS = supportedFields<WatchdogsMessage>('envoy.config.bootstrap.v3.Watchdogs', [
  'main_thread_watchdog',
  'worker_watchdog',
]);
const WATCHDOG = supportedFields<WatchdogMessage>('envoy.config.bootstrap.v3.Watchdog', [
  'miss_timeout',
  'megamiss_timeout',
  'kill_timeout',
  'max_kill_timeout_jitter',
  'multikill_timeout',
  'multikill_threshold',
  'actions',
]);
const ACTION = supportedFields<ActionMessage>('envoy.config.bootstrap.v3.Watchdog.WatchdogAction', [
  'config',
  'event',
]);
const EVENTS = {
  KILL: Event.KILL,
  MULTIKILL: Event.MULTIKILL,
  MEGAMISS: Event.MEGA_MISS,
  MISS: Event.MISS,
} as const;

const MISS_MS = 200;
const MEGA_MISS_MS = 1000;

/**
 * Threads are watched whether this is configured or not. `start`: the same place, of what only a
 * start looks at, as the real server does not make actions before.
 */
export function compileWatchdogs(
  bootstrap: Bootstrap,
  place: Place,
  start: Place,
  context: CompileContext,
): Watchdogs {
  const { watchdog, watchdogs = {} } = bootstrap;
  if (watchdog) {
    if (bootstrap.watchdogs) {
      place.field('watchdogs').error('Only one of watchdog or watchdogs should be set!');
    }
    const field = 'watchdog';
    const both = compileWatchdog(watchdog, place.field(field), start.field(field), context);
    return { main: both, workers: both };
  }
  const at = place.field('watchdogs');
  refuseOtherFields(at, watchdogs, WATCHDOGS);
  const { main_thread_watchdog: main = {}, worker_watchdog: workers = {} } = watchdogs;
  const of = (
    message: WatchdogMessage,
    field: 'main_thread_watchdog' | 'worker_watchdog',
  ): Watchdog =>
    compileWatchdog(message, at.field(field), start.field('watchdogs').field(field), context);
  return {
    main: of(main, 'main_thread_watchdog'),
    workers: of(workers, 'worker_watchdog'),
  };
}

function compileWatchdog(
  message: WatchdogMessage,
  place: Place,
  start: Place,
  context: CompileContext,
): Watchdog {
  refuseOtherFields(place, message, WATCHDOG);
  return {
    miss_ms: wholeMs(message.miss_timeout, MISS_MS),
    mega_miss_ms: wholeMs(message.megamiss_timeout, MEGA_MISS_MS),
    kill_ms: wholeMs(message.kill_timeout, 0),
    kill_jitter_ms: wholeMs(message.max_kill_timeout_jitter, 0),
    multikill_ms: wholeMs(message.multikill_timeout, 0),
    multikill_millionths: Math.round((message.multikill_threshold?.value ?? 0) * 10_000),
    actions: (message.actions ?? []).flatMap((action, index) => {
      const indexed = (at: Place): Place => at.field('actions').index(index);
      return compileAction(action, indexed(place), indexed(start), context) ?? [];
    }),
  };
}

function compileAction(
  message: ActionMessage,
  place: Place,
  start: Place,
  context: CompileContext,
): WatchdogAction | undefined {
  refuseOtherFields(place, message, ACTION);
  const at = start.field('config');
  const config = message.config ?? {};
  const extension = findExtension(context, 'watchdogActions', config, at);
  const { event = 'UNKNOWN' } = message;
  if (!extension || !config.typed_config) return undefined;
  const action = extension.compile(config.typed_config, at.field('typed_config'), context);
  if (event === 'UNKNOWN') {
    place.field('event').warn('UNKNOWN never happens: the action is not done');
    return undefined;
  }
  return { ...action, event: EVENTS[event] };
}
