import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NativeProxy } from '../../../src/native.js';
import type { Wanted } from '../../../src/xds/control-planes.js';
import type { Subscribing } from '../../../src/xds/subscription.js';
import type { Updates } from '../../../src/xds/updates.js';
import { VirtualHostSubscription } from '../../../src/xds/virtual-hosts.js';

const VIRTUAL_HOST = 'envoy.config.route.v3.VirtualHost';

function start(): {
  readonly hosts: VirtualHostSubscription;
  readonly asked: string[];
  readonly told: string[];
  readonly wanted: () => Wanted | undefined;
  readonly refuse: () => void;
  /** Names of those that are there then, for each update that changes something. */
  readonly used: (readonly unknown[])[];
  readonly take: (names: readonly string[], removed: readonly string[]) => void;
} {
  const asked: string[] = [];
  const told: string[] = [];
  const used: (readonly unknown[])[] = [];
  const counted: string[] = [];
  let wanted: Wanted | undefined;
  let updates: Updates | undefined;
  const native = {
    addVhdsStats: () => 'vhds.',
    removeStats: () => undefined,
  } as unknown as NativeProxy;
  const host = {
    planes: {
      transport: (wants: Wanted, ofThem: Updates) => {
        wanted = wants;
        updates = ofThem;
        const ask = (name: string, isOnce: boolean): void =>
          void asked.push(isOnce ? `${name} once` : name);
        return { start: () => undefined, stop: () => undefined, refresh: () => undefined, ask };
      },
    },
    stats: {
      count: (name: string) => counted.push(name),
      countSeldom: () => undefined,
      countDeprecated: () => undefined,
      tellUpdate: () => undefined,
    },
    targets: { add: () => () => undefined },
  } as unknown as Subscribing;
  const plan = {
    name: 'r',
    statPrefix: '',
    source: { kind: 'ads', initialFetchTimeoutMs: 0 },
  } as const;
  const hosts = new VirtualHostSubscription(plan, native, host, {
    use: (all) => {
      used.push(all.map(({ name }) => name));
      return () => undefined;
    },
    onAnswered: (names) => told.push(...names),
  });
  hosts.start(() => undefined);
  return {
    hosts,
    asked,
    told,
    wanted: () => wanted,
    refuse: () => updates?.count('update_rejected'),
    used,
    take(names, removed) {
      const some = names.map((name) => ({ name, message: { $type: VIRTUAL_HOST, name } }));
      assert.equal(updates?.take(some, '1', 0, { removed }), undefined);
      assert.equal(counted.length, used.length);
    },
  };
}

test('who waits for virtual hosts waits no more when nobody is asked for them', () => {
  const { hosts, asked, told, wanted } = start();
  for (const name of ['r/a', 'r/b', 'r/c']) assert.ok(hosts.ask(name));
  assert.deepEqual(asked, ['r/a', 'r/b', 'r/c']);
  wanted()?.onAnswered?.(['r/b'], []);
  assert.deepEqual(told.splice(0), ['r/b']);
  hosts.end();
  assert.deepEqual(told, ['r/a', 'r/c']);
});

test('a virtual host that came unasked is asked for once it is gone, and then no more', () => {
  const { hosts, asked, wanted } = start();
  wanted()?.onAnswered?.(['r/a'], []);
  wanted()?.onAnswered?.(['r/a'], ['r/a']);
  assert.ok(hosts.ask('r/a'));
  wanted()?.onAnswered?.(['r/a'], []);
  assert.equal(hosts.ask('r/a'), false);
  assert.deepEqual(asked, ['r/a']);
});

test('a virtual host is asked for once by each who has it, until an answer comes or is refused', () => {
  const { hosts, asked, told, refuse } = start();
  for (let i = 0; i < 2; ++i) assert.ok(hosts.ask('r/a'));
  assert.deepEqual(asked.splice(0), ['r/a', 'r/a once']);
  refuse();
  assert.ok(hosts.ask('r/a'));
  assert.deepEqual(asked, ['r/a']);
  // Who waited before waits still.
  hosts.end();
  assert.deepEqual(told, ['r/a']);
});

test('updates tell what has changed of virtual hosts; that what is not there is gone says nothing', () => {
  const { used, take } = start();
  take(['r/a', 'other/a'], []);
  take(['r/b'], []);
  take([], ['r/c']);
  take([], ['r/a', 'r/c', 'other/a']);
  assert.deepEqual(used, [['r/a'], ['r/a', 'r/b'], ['r/b']]);
});
