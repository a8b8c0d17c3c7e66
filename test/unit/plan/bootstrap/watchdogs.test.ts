import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Issue } from '../../../../src/config/issues/issue.js';
import { compileWatchdogs } from '../../../../src/plan/bootstrap/watchdogs.js';
import { Place } from '../../../../src/plan/message/place.js';

const DEFAULTS = {
  ...{ miss_ms: 200, mega_miss_ms: 1000, kill_ms: 0, kill_jitter_ms: 0 },
  ...{ multikill_ms: 0, multikill_millionths: 0 },
};

test('threads are watched where nothing is said of it', () => {
  const issues: Issue[] = [];
  assert.deepEqual(compileWatchdogs({}, Place.root(issues)), { main: DEFAULTS, workers: DEFAULTS });
  assert.deepEqual(issues, []);
});

test('the main thread and workers may have limits of their own', () => {
  const watchdogs = {
    main_thread_watchdog: { miss_timeout: 50 },
    worker_watchdog: { kill_timeout: 3000, multikill_threshold: { value: 12.5 } },
  };
  const { main, workers } = compileWatchdogs({ watchdogs }, Place.root([]));
  assert.deepEqual(main, { ...DEFAULTS, miss_ms: 50 });
  assert.deepEqual(workers, { ...DEFAULTS, kill_ms: 3000, multikill_millionths: 125_000 });
});

test('actions of watchdogs are refused by name', () => {
  const issues: Issue[] = [];
  compileWatchdogs({ watchdog: { actions: [{ event: 'KILL' }] } }, Place.root(issues));
  assert.match(issues.map(({ message }) => message).join(), /actions .* is not supported yet/);
});
