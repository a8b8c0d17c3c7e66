// The bootstrap's overload_manager: resource monitors, and what is shed as their pressure rises.
import type {
  envoy_config_overload_v3_BufferFactoryConfig as BufferFactoryConfig,
  envoy_config_overload_v3_LoadShedPoint as LoadShedPoint,
  envoy_config_overload_v3_OverloadAction as OverloadAction,
  envoy_config_overload_v3_OverloadManager as OverloadManager,
  envoy_config_overload_v3_ResourceMonitor as ResourceMonitor,
  envoy_config_overload_v3_ShrinkHeapConfig as ShrinkHeapConfig,
  envoy_config_overload_v3_Trigger as Trigger,
} from '../../../build/messages.gen.js';
import { nearestName } from '../../base/suggest.js';
import type { MonitorPlan } from '../extension-plans.js';
import { findExtension, type CompileContext } from '../extension.js';
import { unregistered } from '../known-extensions.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { OverloadLevel_Subject as Subject, type TimerMinimum } from '../plan.gen.js';
import { compileTimers, SCALE_TIMERS } from './overload-timers.js';

/** How far something goes under a pressure of 0 to 1: from nowhere to all the way, between two pressures. */
export interface TriggerPlan {
  /** Of the monitor. */
  readonly monitor: string;
  readonly from: number;
  /** The same as `from`: at once. */
  readonly to: number;
}

export interface ShedPlan {
  readonly name: string;
  /** It goes as far as the one of them that goes farthest. */
  readonly triggers: readonly TriggerPlan[];
  /** What of the data plane follows it; NOBODY: nothing does. */
  readonly subject: Subject;
}

export interface OverloadPlan {
  readonly refreshIntervalMs: number;
  readonly monitors: readonly { readonly name: string; readonly monitor: MonitorPlan }[];
  readonly actions: readonly ShedPlan[];
  readonly points: readonly ShedPlan[];
  readonly timerMinimums: readonly TimerMinimum[];
  /** How often memory is given back to the system while that action goes all the way. */
  readonly shrinkIntervalMs: number;
  /** Streams count for their memory that hold half of 2 to the power of this, and more; 0: none do. */
  readonly minAccountPower: number;
}

const FIELDS = supportedFields<OverloadManager>('envoy.config.overload.v3.OverloadManager', [
  'refresh_interval',
  'resource_monitors',
  'actions',
  'loadshed_points',
  'buffer_factory_config',
]);
const MONITOR = supportedFields<ResourceMonitor>('envoy.config.overload.v3.ResourceMonitor', [
  'name',
  'typed_config',
]);
const ACTION = supportedFields<OverloadAction>('envoy.config.overload.v3.OverloadAction', [
  'name',
  'triggers',
  'typed_config',
]);
const POINT = supportedFields<LoadShedPoint>('envoy.config.overload.v3.LoadShedPoint', [
  'name',
  'triggers',
]);
const TRIGGER = supportedFields<Trigger>('envoy.config.overload.v3.Trigger', [
  'name',
  'threshold',
  'scaled',
]);
const BUFFERS = supportedFields<BufferFactoryConfig>(
  'envoy.config.overload.v3.BufferFactoryConfig',
  ['minimum_account_to_track_power_of_two'],
);
// All that is free goes back, so that there is no limit to what may stay.
const SHRINK_HEAP = supportedFields<ShrinkHeapConfig>('envoy.config.overload.v3.ShrinkHeapConfig', [
  'timer_interval',
  'max_unfreed_memory_bytes',
]);

const ACTION_PREFIX = 'envoy.overload_actions.';
const POINT_PREFIX = 'envoy.load_shed_points.';
const CONNECTIONS = 'envoy.resource_monitors.global_downstream_max_connections';
const REDUCE_TIMEOUTS = `${ACTION_PREFIX}reduce_timeouts`;
export const SHRINK_HEAP_ACTION = `${ACTION_PREFIX}shrink_heap`;
const RESET_STREAMS = `${ACTION_PREFIX}reset_high_memory_stream`;

const ACTIONS = new Map<string, Subject>([
  ['stop_accepting_requests', Subject.STOP_ACCEPTING_REQUESTS],
  ['disable_http_keepalive', Subject.DISABLE_HTTP_KEEPALIVE],
  ['stop_accepting_connections', Subject.STOP_ACCEPTING_CONNECTIONS],
  ['reject_incoming_connections', Subject.REJECT_INCOMING_CONNECTIONS],
  ['reduce_timeouts', Subject.REDUCE_TIMEOUTS],
  ['shrink_heap', Subject.NOBODY],
  ['reset_high_memory_stream', Subject.RESET_HIGH_MEMORY_STREAM],
  ['close_idle_http_connections', Subject.NOBODY],
]);
const POINTS = new Map<string, Subject>([
  ['tcp_listener_accept', Subject.POINT_TCP_LISTENER_ACCEPT],
  ['http_connection_manager_decode_headers', Subject.POINT_DECODE_HEADERS],
  ['hcm_ondata_creating_codec', Subject.POINT_CREATE_CODEC],
  ['http1_server_abort_dispatch', Subject.POINT_HTTP1_ABORT],
  ['http2_server_go_away_on_dispatch', Subject.POINT_HTTP2_GO_AWAY],
  ['http2_server_go_away_and_close_on_dispatch', Subject.POINT_HTTP2_GO_AWAY_AND_CLOSE],
  ['connection_pool_new_connection', Subject.POINT_POOL_CONNECTION],
  ['http_downstream_filter_check', Subject.POINT_DOWNSTREAM_FILTER_CHECK],
  ['tcp_proxy_on_data', Subject.POINT_TCP_PROXY_DATA],
  ['tcp_proxy_upstream_connect', Subject.POINT_TCP_PROXY_CONNECT],
]);
/** Nothing here speaks HTTP/3. */
const HTTP3_POINTS = new Set([
  'http3_server_go_away_on_dispatch',
  'http3_server_go_away_and_close_on_dispatch',
]);

const DEFAULT_REFRESH_MS = 1000;
const DEFAULT_SHRINK_MS = 10_000;

export function compileOverload(
  message: OverloadManager,
  place: Place,
  context: CompileContext,
): OverloadPlan {
  refuseOtherFields(place, message, FIELDS);
  if (message.buffer_factory_config)
    refuseOtherFields(place.field('buffer_factory_config'), message.buffer_factory_config, BUFFERS);
  const monitors = compileMonitors(message, place.field('resource_monitors'), context);
  const names = new Set((message.resource_monitors ?? []).map(({ name = '' }) => name));
  const actions = compileActions(message, place.field('actions'), names);
  // Nothing is read of connections, which are counted as they come: only actions may name them.
  const read = new Set(names);
  for (const { name, monitor } of monitors) if (monitor.kind === 'connections') read.delete(name);
  const points = compilePoints(message, place.field('loadshed_points'), read, actions);
  return {
    refreshIntervalMs: Math.max(1, wholeMs(message.refresh_interval, DEFAULT_REFRESH_MS)),
    monitors,
    actions,
    points,
    timerMinimums: timersOf(message),
    shrinkIntervalMs: shrinkIntervalOf(message),
    minAccountPower: message.buffer_factory_config?.minimum_account_to_track_power_of_two ?? 0,
  };
}

function compileMonitors(
  { resource_monitors: messages = [] }: OverloadManager,
  place: Place,
  context: CompileContext,
): OverloadPlan['monitors'] {
  const seen = new Map<string, Place>();
  return messages.flatMap((message, index) => {
    const at = place.index(index);
    const { name = '' } = message;
    refuseOtherFields(at, message, MONITOR);
    refuseSecond(`Duplicate resource monitor ${name}`, name, at, seen);
    const extension = findExtension(context, 'resourceMonitors', message, at);
    if (!extension || !message.typed_config) return [];
    const monitor = extension.compile(message.typed_config, at.field('typed_config'), context);
    // The real server finds the others by their type.
    if (monitor?.kind === 'connections' && name !== CONNECTIONS) {
      at.field('name').error(unregistered(name, extension.type), { suggestion: CONNECTIONS });
      return [];
    }
    return monitor ? [{ name, monitor }] : [];
  });
}

function compileActions(
  message: OverloadManager,
  place: Place,
  monitors: ReadonlySet<string>,
): ShedPlan[] {
  const seen = new Map<string, Place>();
  return (message.actions ?? []).map((action, index) => {
    const at = place.index(index);
    const { name = '' } = action;
    refuseOtherFields(at, action, ACTION);
    refuseSecond(`Duplicate overload action ${name}`, name, at, seen);
    const subject = subjectOf(name, ACTION_PREFIX, ACTIONS);
    if (subject === undefined) {
      const all = [...ACTIONS.keys()].map((known) => ACTION_PREFIX + known);
      const suggestion = nearestName(name, all);
      at.field('name').error(`Unknown Overload Manager Action ${name}`, {
        expected: `one of ${all.join(', ')}`,
        suggestion,
      });
    }
    if (name === `${ACTION_PREFIX}close_idle_http_connections`) {
      at.field('name').warn(`${name} ends connections of HTTP/3 alone: there are none`);
    }
    checkActionConfig(action, message, at);
    const what = `overload action ${name}`;
    const triggers = compileTriggers(action.triggers, at.field('triggers'), monitors, what, what);
    return { name, subject: subject ?? Subject.NOBODY, triggers };
  });
}

/** What an action has besides its triggers. */
function checkActionConfig(action: OverloadAction, manager: OverloadManager, place: Place): void {
  const { name = '', typed_config: config } = action;
  const at = place.field('typed_config');
  if (name === RESET_STREAMS && !manager.buffer_factory_config) {
    place.error(`Overload action "${name}" requires buffer_factory_config.`, {
      expected: 'overload_manager.buffer_factory_config with minimum_account_to_track_power_of_two',
    });
  }
  const wanted =
    name === REDUCE_TIMEOUTS
      ? SCALE_TIMERS
      : name === SHRINK_HEAP_ACTION
        ? SHRINK_HEAP.type
        : undefined;
  if (!config) {
    if (name === REDUCE_TIMEOUTS) {
      place.error(`Overload action "${name}" requires typed_config`, {
        expected: `typed_config: {"@type": "type.googleapis.com/${SCALE_TIMERS}"}`,
      });
    }
    return;
  }
  if (wanted === undefined) {
    if (ACTIONS.has(name.slice(ACTION_PREFIX.length)))
      at.error(`Overload action name "${name}" conflicts with its typed config`);
  } else if (config.$type !== wanted) {
    at.error(`typed_config resolves to ${config.$type} instead of ${wanted}`);
  } else if (name === REDUCE_TIMEOUTS) {
    compileTimers(config, at);
  } else {
    refuseOtherFields(at, config, SHRINK_HEAP);
  }
}

function timersOf({ actions = [] }: OverloadManager): readonly TimerMinimum[] {
  const config = actions.find(({ name }) => name === REDUCE_TIMEOUTS)?.typed_config;
  return config?.$type === SCALE_TIMERS ? compileTimers(config, undefined) : [];
}

function shrinkIntervalOf({ actions = [] }: OverloadManager): number {
  const config = actions.find(({ name }) => name === SHRINK_HEAP_ACTION)?.typed_config;
  return wholeMs((config as ShrinkHeapConfig | undefined)?.timer_interval, DEFAULT_SHRINK_MS);
}

/** Names that nothing asks for are taken, as the real server takes them. */
function compilePoints(
  { loadshed_points: messages = [] }: OverloadManager,
  place: Place,
  monitors: ReadonlySet<string>,
  actions: readonly ShedPlan[],
): ShedPlan[] {
  const seen = new Map<string, Place>();
  return messages.map((point, index) => {
    const at = place.index(index);
    const { name = '' } = point;
    refuseOtherFields(at, point, POINT);
    refuseSecond(`Duplicate loadshed point ${name}`, name, at, seen);
    if (actions.some((action) => action.name === name)) {
      const what = `Load shed point "${name}" conflicts with an overload action of the same name`;
      at.field('name').error(what);
    }
    const subject = subjectOf(name, POINT_PREFIX, POINTS);
    if (subject === undefined) warnOfPoint(name, at.field('name'));
    const triggers = compileTriggers(
      point.triggers,
      at.field('triggers'),
      monitors,
      `loadshed point ${name}`,
      `LoadShedPoint ${name}`,
    );
    return { name, subject: subject ?? Subject.NOBODY, triggers };
  });
}

function warnOfPoint(name: string, place: Place): void {
  if (name.startsWith(POINT_PREFIX) && HTTP3_POINTS.has(name.slice(POINT_PREFIX.length))) {
    place.warn(`${name} sheds HTTP/3 alone: there is none`);
    return;
  }
  const all = [...POINTS.keys()].map((known) => POINT_PREFIX + known);
  place.warn(`nothing asks for the load shed point '${name}': it has no effect`, {
    suggestion: nearestName(name, all),
  });
}

/** `what` and `whose`: how the real server calls that which is triggered, in two of its messages. */
function compileTriggers(
  messages: readonly Trigger[] | undefined,
  place: Place,
  monitors: ReadonlySet<string>,
  what: string,
  whose: string,
): TriggerPlan[] {
  const seen = new Map<string, Place>();
  return (messages ?? []).map((trigger, index) => {
    const at = place.index(index);
    const { name: monitor = '', threshold, scaled } = trigger;
    refuseOtherFields(at, trigger, TRIGGER);
    if (!monitors.has(monitor)) {
      at.field('name').error(`Unknown trigger resource ${monitor} for ${what}`, {
        expected: 'the name of one of the resource_monitors',
        suggestion: nearestName(monitor, monitors),
      });
    }
    refuseSecond(`Duplicate trigger resource for ${whose}`, monitor, at, seen);
    const from = scaled?.scaling_threshold ?? threshold?.value ?? 0;
    const to = scaled ? (scaled.saturation_threshold ?? 0) : from;
    if (scaled && from >= to)
      at.field('scaled').error('scaling_threshold must be less than saturation_threshold');
    return { monitor, from, to };
  });
}

function subjectOf(
  name: string,
  prefix: string,
  known: ReadonlyMap<string, Subject>,
): Subject | undefined {
  return name.startsWith(prefix) ? known.get(name.slice(prefix.length)) : undefined;
}

function refuseSecond(message: string, name: string, place: Place, seen: Map<string, Place>): void {
  const first = seen.get(name);
  if (first) place.field('name').error(message, { related: first.field('name') });
  else seen.set(name, place);
}
