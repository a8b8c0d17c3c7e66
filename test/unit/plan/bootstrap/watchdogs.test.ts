import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { envoy_config_bootstrap_v3_Bootstrap as Bootstrap } from '../../../../build/messages.gen.js';
import { WatchdogAction_Event as Event } from '../../../../src/plan/plan.gen.js';
import { any, compile } from '../helpers.js';

const DEFAULTS = {
  ...{ miss_ms: 200, mega_miss_ms: 1000, kill_ms: 0, kill_jitter_ms: 0 },
  ...{ multikill_ms: 0, multikill_millionths: 0, actions: [] },
};

function watchdogsOf(bootstrap: Bootstrap) {
  const { update, issues, startIssues } = compile(bootstrap);
  const said = (list: typeof issues) => list.map(({ path, message }) => `${path}: ${message}`);
  return { ...update.watchdogs, problems: said(issues), atStart: said(startIssues) };
}

test('threads are watched where nothing is said of it', () => {
  assert.deepEqual(watchdogsOf({}), {
    ...{ main: DEFAULTS, workers: DEFAULTS },
    ...{ problems: [], atStart: [] },
  });
});

test('the main thread and workers may have limits of their own', () => {
  const { main, workers } = watchdogsOf({
    watchdogs: {
      main_thread_watchdog: { miss_timeout: 50 },
      worker_watchdog: { kill_timeout: 3000, multikill_threshold: { value: 12.5 } },
    },
  });
  assert.deepEqual(main, { ...DEFAULTS, miss_ms: 50 });
  assert.deepEqual(workers, { ...DEFAULTS, kill_ms: 3000, multikill_millionths: 125_000 });
});

test('actions are kept in their order, with what they do where nothing is said', () => {
  const profile = any('envoy.extensions.watchdog.profile_action.v3.ProfileActionConfig', {
    profile_path: '/tmp/profiles',
  });
  const backtrace = any('envoy.extensions.watchdog.backtrace_action.v3.BacktraceActionConfig', {
    cooldown_duration: 500,
  });
  const abort = any('envoy.watchdog.v3.AbortActionConfig', {});
  const { main, problems } = watchdogsOf({
    watchdog: {
      actions: [
        { event: 'MISS', config: { name: 'p', typed_config: profile } },
        { event: 'MEGAMISS', config: { name: 'b', typed_config: backtrace } },
        { event: 'KILL', config: { name: 'a', typed_config: abort } },
      ],
    },
  });
  assert.deepEqual(problems, []);
  assert.deepEqual(main?.actions, [
    {
      profile: { folder: '/tmp/profiles', duration_ms: 5000, max_profiles: 10 },
      event: Event.MISS,
    },
    { backtrace: { cooldown_ms: 500 }, event: Event.MEGA_MISS },
    { abort: { wait_ms: 5000 }, event: Event.KILL },
  ]);
});

test('actions that nobody knows are refused by name at a start, and those of no event are told of', () => {
  const odd = any('google.protobuf.Struct', {});
  const abort = any('envoy.watchdog.v3.AbortActionConfig', {});
  const { main, problems, atStart } = watchdogsOf({
    watchdog: {
      actions: [
        { event: 'KILL', config: { name: 'odd', typed_config: odd } },
        { config: { name: 'a', typed_config: abort } },
      ],
    },
  });
  assert.deepEqual(main?.actions, []);
  assert.match(atStart[0] ?? '', /watchdog\.actions\[0\]\.config.*odd/);
  assert.match(problems[0] ?? '', /watchdog\.actions\[1\]\.event: UNKNOWN never happens/);
});
