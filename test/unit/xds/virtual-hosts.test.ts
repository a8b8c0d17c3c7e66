import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NativeProxy } from '../../../src/native.js';
import type { Wanted } from '../../../src/xds/control-planes.js';
import type { Subscribing } from '../../../src/xds/subscription.js';
import { VirtualHostSubscription } from '../../../src/xds/virtual-hosts.js';

function start(): {
  readonly hosts: VirtualHostSubscription;
  readonly asked: string[];
  readonly told: string[];
  readonly wanted: () => Wanted | undefined;
} {
  const asked: string[] = [];
  const told: string[] = [];
  let wanted: Wanted | undefined;
  const native = {
    addVhdsStats: () => 'vhds.',
    removeStats: () => undefined,
  } as unknown as NativeProxy;
  const host = {
    planes: {
      transport: (wants: Wanted) => {
        wanted = wants;
        const ask = (name: string, isOnce: boolean): void => {
          assert.ok(isOnce);
          asked.push(name);
        };
        return { start: () => undefined, stop: () => undefined, refresh: () => undefined, ask };
      },
    },
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
  return { hosts, asked, told, wanted: () => wanted };
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
