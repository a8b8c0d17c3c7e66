import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NativeProxy } from '../../../src/native.js';
import type { Wanted } from '../../../src/xds/control-planes.js';
import type { Subscribing } from '../../../src/xds/subscription.js';
import type { Updates } from '../../../src/xds/updates.js';
import { VirtualHostSubscription } from '../../../src/xds/virtual-hosts.js';

function start(): {
  readonly hosts: VirtualHostSubscription;
  readonly asked: string[];
  readonly told: string[];
  readonly wanted: () => Wanted | undefined;
  readonly refuse: () => void;
} {
  const asked: string[] = [];
  const told: string[] = [];
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
    stats: { countSeldom: () => undefined },
    targets: { add: () => () => undefined },
  } as unknown as Subscribing;
  const plan = {
    name: 'r',
    statPrefix: '',
    source: { kind: 'ads', initialFetchTimeoutMs: 0 },
  } as const;
  const hosts = new VirtualHostSubscription(plan, native, host, {
    use: () => () => undefined,
    onAnswered: (names) => told.push(...names),
  });
  hosts.start(() => undefined);
  return {
    hosts,
    asked,
    told,
    wanted: () => wanted,
    refuse: () => updates?.count('update_rejected'),
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
