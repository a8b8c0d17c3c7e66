import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { envoy_config_overload_v3_OverloadManager as OverloadManager } from '../../../../build/messages.gen.js';
import { OverloadLevel_Subject as Subject } from '../../../../src/plan/plan.gen.js';
import { any, compile } from '../helpers.js';

const INJECTED = 'envoy.resource_monitors.injected_resource';
const MONITORS = 'envoy.extensions.resource_monitors';
const FILE = {
  name: INJECTED,
  typed_config: any(`${MONITORS}.injected_resource.v3.InjectedResourceConfig`, {
    filename: '/tmp/pressure',
  }),
};
const CONNECTIONS = {
  name: 'envoy.resource_monitors.global_downstream_max_connections',
  typed_config: any(`${MONITORS}.downstream_connections.v3.DownstreamConnectionsConfig`, {
    max_active_downstream_connections: 7,
  }),
};
const FULL = [{ name: INJECTED, threshold: { value: 0.9 } }];
const SCALE = 'envoy.config.overload.v3.ScaleTimersOverloadActionConfig';

function problemsOf(message: OverloadManager): string[] {
  const { issues } = compile({ overload_manager: { resource_monitors: [FILE], ...message } });
  return issues.map(({ path, message: what }) => `${path}: ${what}`);
}

const action = (name: string, more: object = {}) => ({
  name: `envoy.overload_actions.${name}`,
  triggers: FULL,
  ...more,
});
const point = (name: string, more: object = {}) => ({
  name: `envoy.load_shed_points.${name}`,
  triggers: FULL,
  ...more,
});

test('the file of a pressure is in a folder that is there', () => {
  const problems = (filename: string): string => {
    const config = any(`${MONITORS}.injected_resource.v3.InjectedResourceConfig`, { filename });
    return problemsOf({ resource_monitors: [{ name: INJECTED, typed_config: config }] }).join();
  };
  assert.equal(problems('./pressure'), '');
  assert.match(problems('pressure'), /filename: invalid file path pressure$/);
  assert.match(problems('/nowhere/pressure'), /unable to add filesystem watch/);
});

test('an overload manager becomes monitors, and what follows their pressure', () => {
  const { overload, issues } = compile({
    overload_manager: {
      refresh_interval: 250,
      resource_monitors: [FILE],
      actions: [
        action('stop_accepting_requests'),
        action('shrink_heap', {
          triggers: [
            { name: INJECTED, scaled: { scaling_threshold: 0.5, saturation_threshold: 0.75 } },
          ],
        }),
      ],
      loadshed_points: [point('tcp_listener_accept')],
    },
  });

  assert.deepEqual(issues, []);
  assert.equal(overload?.refreshIntervalMs, 250);
  assert.deepEqual(overload?.monitors, [
    { name: INJECTED, monitor: { kind: 'injected', file: '/tmp/pressure' } },
  ]);
  assert.deepEqual(overload?.actions, [
    {
      name: 'envoy.overload_actions.stop_accepting_requests',
      subject: Subject.STOP_ACCEPTING_REQUESTS,
      triggers: [{ monitor: INJECTED, from: 0.9, to: 0.9 }],
    },
    {
      name: 'envoy.overload_actions.shrink_heap',
      subject: Subject.NOBODY,
      triggers: [{ monitor: INJECTED, from: 0.5, to: 0.75 }],
    },
  ]);
  assert.equal(overload?.points[0]?.subject, Subject.POINT_TCP_LISTENER_ACCEPT);
});

test('streams are reset for their memory from some size on, which must be said', () => {
  const reset = action('reset_high_memory_stream');
  const { overload, issues } = compile({
    overload_manager: {
      resource_monitors: [FILE],
      actions: [reset],
      buffer_factory_config: { minimum_account_to_track_power_of_two: 20 },
    },
  });
  assert.deepEqual(issues, []);
  assert.equal(overload?.actions[0]?.subject, Subject.RESET_HIGH_MEMORY_STREAM);
  assert.equal(overload?.minAccountPower, 20);
  assert.match(problemsOf({ actions: [reset] })[0] ?? '', /requires buffer_factory_config/);
});

test('timers fall to a time or to a share of what is configured', () => {
  const { overload } = compile({
    overload_manager: {
      resource_monitors: [FILE],
      actions: [
        action('reduce_timeouts', {
          typed_config: any(SCALE, {
            timer_scale_factors: [
              { timer: 'HTTP_DOWNSTREAM_CONNECTION_IDLE', min_timeout: 2000 },
              { timer: 'HTTP_DOWNSTREAM_STREAM_IDLE', min_scale: { value: 10 } },
            ],
          }),
        }),
      ],
    },
  });

  assert.deepEqual(overload?.timerMinimums, [
    { timer: 0, min_ms: 2000 },
    { timer: 1, share_millionths: 100_000 },
  ]);
});

test('the resource monitor of connections goes before the runtime', () => {
  const { update } = compile({ overload_manager: { resource_monitors: [CONNECTIONS] } });

  assert.deepEqual(update.connection_limit, { value: 7 });
});

const BY_CONNECTIONS = [{ name: CONNECTIONS.name, threshold: { value: 0.5 } }];

test('an action may follow the monitor of connections', () => {
  const actions = [action('shrink_heap', { triggers: BY_CONNECTIONS })];
  assert.deepEqual(problemsOf({ resource_monitors: [CONNECTIONS], actions }), []);
});

const TIMED = { timer: 'HTTP_DOWNSTREAM_STREAM_IDLE', min_timeout: 1000 };
const WRONG: readonly (readonly [what: string, message: OverloadManager, problem: string])[] = [
  [
    'an action that nobody knows',
    { actions: [action('stop_accepting_request')] },
    'overload_manager.actions[0].name: Unknown Overload Manager Action envoy.overload_actions.stop_accepting_request',
  ],
  [
    'an action twice',
    { actions: [action('shrink_heap'), action('shrink_heap')] },
    'overload_manager.actions[1].name: Duplicate overload action envoy.overload_actions.shrink_heap',
  ],
  [
    'a monitor twice',
    { resource_monitors: [FILE, FILE] },
    `overload_manager.resource_monitors[1].name: Duplicate resource monitor ${INJECTED}`,
  ],
  [
    'a trigger without its monitor',
    { actions: [action('shrink_heap', { triggers: [{ name: 'none', threshold: { value: 1 } }] })] },
    'overload_manager.actions[0].triggers[0].name: Unknown trigger resource none for overload action envoy.overload_actions.shrink_heap',
  ],
  [
    'a point that follows the monitor of connections',
    {
      resource_monitors: [CONNECTIONS],
      loadshed_points: [point('tcp_listener_accept', { triggers: BY_CONNECTIONS })],
    },
    `overload_manager.loadshed_points[0].triggers[0].name: Unknown trigger resource ${CONNECTIONS.name} for loadshed point envoy.load_shed_points.tcp_listener_accept`,
  ],
  [
    'a trigger twice',
    { loadshed_points: [point('tcp_listener_accept', { triggers: [...FULL, ...FULL] })] },
    'overload_manager.loadshed_points[0].triggers[1].name: Duplicate trigger resource for LoadShedPoint envoy.load_shed_points.tcp_listener_accept',
  ],
  [
    'thresholds that cross',
    {
      actions: [
        action('shrink_heap', {
          triggers: [
            { name: INJECTED, scaled: { scaling_threshold: 0.9, saturation_threshold: 0.5 } },
          ],
        }),
      ],
    },
    'overload_manager.actions[0].triggers[0].scaled: scaling_threshold must be less than saturation_threshold',
  ],
  [
    'timeouts without timers',
    { actions: [action('reduce_timeouts')] },
    'overload_manager.actions[0]: Overload action "envoy.overload_actions.reduce_timeouts" requires typed_config',
  ],
  [
    'a timer twice',
    {
      actions: [
        action('reduce_timeouts', {
          typed_config: any(SCALE, { timer_scale_factors: [TIMED, TIMED] }),
        }),
      ],
    },
    'overload_manager.actions[0].typed_config.timer_scale_factors[1].timer: Found duplicate entry for timer type HTTP_DOWNSTREAM_STREAM_IDLE',
  ],
  [
    'a configuration that the action has not',
    { actions: [action('shrink_heap', { typed_config: any(SCALE) })] },
    `overload_manager.actions[0].typed_config: typed_config resolves to ${SCALE} instead of envoy.config.overload.v3.ShrinkHeapConfig`,
  ],
  [
    'a configuration where there can be none',
    { actions: [action('disable_http_keepalive', { typed_config: any(SCALE) })] },
    'overload_manager.actions[0].typed_config: Overload action name "envoy.overload_actions.disable_http_keepalive" conflicts with its typed config',
  ],
  [
    'a point that nobody asks for',
    { loadshed_points: [point('tcp_listener_acept')] },
    "overload_manager.loadshed_points[0].name: nothing asks for the load shed point 'envoy.load_shed_points.tcp_listener_acept': it has no effect",
  ],
  [
    'a point named as an action',
    {
      actions: [action('shrink_heap')],
      loadshed_points: [{ name: 'envoy.overload_actions.shrink_heap', triggers: FULL }],
    },
    'overload_manager.loadshed_points[0].name: Load shed point "envoy.overload_actions.shrink_heap" conflicts with an overload action of the same name',
  ],
  [
    'no heap at all',
    {
      resource_monitors: [
        FILE,
        {
          name: 'heap',
          typed_config: any(`${MONITORS}.fixed_heap.v3.FixedHeapConfig`),
        },
      ],
    },
    'overload_manager.resource_monitors[1].typed_config: fixed_heap: max heap size must be greater than 0',
  ],
  [
    'a monitor of somebody else',
    { resource_monitors: [FILE, { name: 'own', typed_config: any('own.Monitor') }] },
    "overload_manager.resource_monitors[1].typed_config: Didn't find a registered implementation for 'own' with type URL: 'own.Monitor'",
  ],
];

for (const [what, message, problem] of WRONG) {
  test(`${what} is told of at its place`, () => {
    assert.ok(problemsOf(message).includes(problem), problemsOf(message).join('\n'));
  });
}
