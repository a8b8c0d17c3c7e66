import assert from 'node:assert/strict';
import { test } from 'node:test';
import { levelOf, OverloadManager } from '../../../src/overload/overload-manager.js';
import type { OverloadPlan } from '../../../src/plan/bootstrap/overload.js';
import { OverloadLevel_Subject as Subject, type Update } from '../../../src/plan/plan.gen.js';

const PLAN: OverloadPlan = {
  refreshIntervalMs: 10,
  monitors: [{ name: 'heap', monitor: { kind: 'heap', maxBytes: 1000, runtimeKey: undefined } }],
  actions: [
    {
      name: 'requests',
      triggers: [{ monitor: 'heap', from: 0.5, to: 0.9 }],
      subject: Subject.STOP_ACCEPTING_REQUESTS,
    },
  ],
  points: [
    { name: 'point', triggers: [{ monitor: 'heap', from: 0.8, to: 0.8 }], subject: Subject.NOBODY },
  ],
  timerMinimums: [],
  shrinkIntervalMs: 1000,
  minAccountPower: 0,
};

function managerOf(plan: OverloadPlan) {
  const stats = new Map<string, number>();
  const updates: Update[] = [];
  const lines: string[] = [];
  const host = {
    bytes: 0,
    stats: {
      count: (name: string, amount = 1) => stats.set(name, (stats.get(name) ?? 0) + amount),
      setGauge: (name: string, value: number) => stats.set(name, value),
      record: () => undefined,
    },
    number: (_key: string, fallback: number) => fallback,
    watch: () => ({ close: () => undefined }),
    residentBytes: () => {
      if (Number.isNaN(host.bytes)) throw new Error('unknown');
      return host.bytes;
    },
    apply: (update: Update) => updates.push(update),
    log: (_level: string, message: string) => lines.push(message),
  };
  return { manager: new OverloadManager(plan, host), host, stats, updates, lines };
}

test('a trigger goes from nowhere to all the way between its two pressures', () => {
  const at = (pressure: number, from: number, to: number) =>
    levelOf({ monitor: 'm', from, to }, new Map([['m', pressure]]));

  assert.equal(at(0.4, 0.5, 0.9), 0);
  assert.equal(at(0.5, 0.5, 0.9), 0);
  assert.equal(at(0.75, 0.5, 1), 0.5);
  assert.equal(at(0.9, 0.5, 0.9), 1);
  assert.equal(at(0.89, 0.9, 0.9), 0);
  assert.equal(at(0.9, 0.9, 0.9), 1);
  assert.equal(levelOf({ monitor: 'other', from: 0, to: 0 }, new Map()), 0);
});

test('what changes is told to the data plane once, and shown', () => {
  const { manager, host, stats, updates, lines } = managerOf(PLAN);
  assert.deepEqual(updates[0]?.overload_manager?.actions, ['requests']);
  host.bytes = 700;
  manager.refresh();
  manager.refresh();

  assert.equal(stats.get('overload.heap.pressure'), 70);
  assert.equal(stats.get('overload.requests.scale_percent'), 50);
  assert.equal(stats.get('overload.requests.active'), 0);
  assert.deepEqual(
    updates.slice(1).map(({ overload }) => overload?.levels),
    [[{ subject: Subject.STOP_ACCEPTING_REQUESTS, millionths: 500_000 }]],
  );

  host.bytes = 900;
  manager.refresh();
  assert.equal(stats.get('overload.requests.active'), 1);
  assert.equal(stats.get('overload.point.scale_percent'), 100);
  assert.ok(lines.includes('Overload action requests became saturated'));

  host.bytes = 100;
  manager.refresh();
  assert.equal(stats.get('overload.requests.scale_percent'), 0);
  assert.deepEqual(updates.at(-1)?.overload?.levels, []);
});

test('what cannot be read counts as failed, and what was known before holds', () => {
  const { manager, host, stats, updates, lines } = managerOf(PLAN);
  host.bytes = 950;
  manager.refresh();
  host.bytes = Number.NaN;
  manager.refresh();

  assert.equal(stats.get('overload.heap.failed_updates'), 1);
  assert.equal(stats.get('overload.heap.pressure'), 95);
  assert.equal(updates.length, 2);
  assert.deepEqual(lines.at(-1), 'Failed to update resource heap: unknown');
});

test('of an action with several triggers the one that changed last is shown, and all of them hold', () => {
  const trigger = (monitor: string, from: number) => ({ monitor, from, to: from });
  const { manager, host, stats, updates } = managerOf({
    ...PLAN,
    monitors: [
      ...PLAN.monitors,
      { name: 'more', monitor: { kind: 'heap', maxBytes: 2000, runtimeKey: undefined } },
    ],
    actions: [
      {
        name: 'requests',
        triggers: [trigger('heap', 0.4), trigger('more', 0.4)],
        subject: Subject.STOP_ACCEPTING_REQUESTS,
      },
    ],
    points: [
      {
        name: 'point',
        triggers: [trigger('heap', 0.4), trigger('more', 0.4)],
        subject: Subject.NOBODY,
      },
    ],
  });
  assert.equal(stats.get('overload.requests.active'), 0);
  assert.equal(stats.get('overload.point.scale_percent'), 0);

  host.bytes = 900;
  manager.refresh();
  // Only the second one falls.
  host.bytes = 500;
  manager.refresh();

  assert.equal(stats.get('overload.requests.active'), 0);
  assert.equal(stats.get('overload.requests.scale_percent'), 0);
  assert.equal(stats.get('overload.point.scale_percent'), 100);
  assert.equal(updates.length, 2);
});

test('a pressure is shown in whole hundredths, the rest cut off', () => {
  const { manager, host, stats } = managerOf(PLAN);
  host.bytes = 899.9;
  manager.refresh();
  assert.equal(stats.get('overload.heap.pressure'), 89);
});
