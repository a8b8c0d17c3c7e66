// How long threads may be away from their loops before that is counted, told of, or ends the process.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_bootstrap_v3_Watchdog as WatchdogMessage,
  envoy_config_bootstrap_v3_Watchdogs as WatchdogsMessage,
} from '../../../build/messages.gen.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { Watchdog, Watchdogs } from '../plan.gen.js';

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
]);

const MISS_MS = 200;
const MEGA_MISS_MS = 1000;

/** Threads are watched whether this is configured or not. */
export function compileWatchdogs(bootstrap: Bootstrap, place: Place): Watchdogs {
  const { watchdog, watchdogs = {} } = bootstrap;
  if (watchdog) {
    if (bootstrap.watchdogs) {
      place.field('watchdogs').error('Only one of watchdog or watchdogs should be set!');
    }
    const both = compileWatchdog(watchdog, place.field('watchdog'));
    return { main: both, workers: both };
  }
  const at = place.field('watchdogs');
  refuseOtherFields(at, watchdogs, WATCHDOGS);
  const { main_thread_watchdog: main = {}, worker_watchdog: workers = {} } = watchdogs;
  return {
    main: compileWatchdog(main, at.field('main_thread_watchdog')),
    workers: compileWatchdog(workers, at.field('worker_watchdog')),
  };
}

function compileWatchdog(message: WatchdogMessage, place: Place): Watchdog {
  refuseOtherFields(place, message, WATCHDOG);
  return {
    miss_ms: wholeMs(message.miss_timeout, MISS_MS),
    mega_miss_ms: wholeMs(message.megamiss_timeout, MEGA_MISS_MS),
    kill_ms: wholeMs(message.kill_timeout, 0),
    kill_jitter_ms: wholeMs(message.max_kill_timeout_jitter, 0),
    multikill_ms: wholeMs(message.multikill_timeout, 0),
    multikill_millionths: Math.round((message.multikill_threshold?.value ?? 0) * 10_000),
  };
}
