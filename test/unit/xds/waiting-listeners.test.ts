// What becomes of a change that waits while what it changes is lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NativeProxy } from '../../../src/native.js';
import type { DynamicChain } from '../../../src/plan/listener/lds-plan.js';
import type { HeldSecret } from '../../../src/plan/live-sources.js';
import { InitTargets } from '../../../src/xds/init-targets.js';
import type { Change, KnownListener } from '../../../src/xds/listener-round.js';
import { WaitingListeners } from '../../../src/xds/waiting-listeners.js';

/** Of whatever is given up, in order. */
let released: string[] = [];

const held = (name: string): HeldSecret =>
  ({ request: { name }, release: () => released.push(name) }) as unknown as HeldSecret;

const chain = (name: string): DynamicChain =>
  ({ routes: { release: () => [] }, secrets: [held(name)] }) as unknown as DynamicChain;

const stays = chain('of a chain that stays');
const before = {
  ...{ id: 1, name: 'one', version: '1', message: {}, plan: { name: 'one' }, discovered: [] },
  ...{ chains: new Map([['stays', stays]]), secrets: [held('of the listener')], updatedMs: 0 },
} as KnownListener;

function changeOf(isInPlace: boolean): Change {
  const known = isInPlace ? before.chains : new Map<string, DynamicChain>();
  return {
    ...{
      id: 2,
      version: '2',
      message: {},
      plan: { name: 'one' },
      discovered: [],
      before,
      isInPlace,
    },
    ...{ chains: new Map([...known, ['fresh', chain('of a fresh chain')]]), known },
    secrets: isInPlace ? before.secrets : [held('of the next listener')],
  };
}

/** It waits for what comes with `come`. */
function waiting(change: Change): {
  readonly all: WaitingListeners;
  readonly placed: Change[];
  readonly takenBack: string[];
  readonly come: () => Promise<void>;
} {
  released = [];
  const placed: Change[] = [];
  const takenBack: string[] = [];
  const native = {
    announceListener: () => undefined,
    takeAnnouncementBack: (name: string) => takenBack.push(name),
  } as unknown as NativeProxy;
  let resolve = (): void => undefined;
  let needs: Promise<void> | undefined = new Promise<void>((done) => (resolve = done));
  const host = {
    ...{ targets: new InitTargets(), onRoutes: () => undefined, onSockets: () => undefined },
    needsOf: () => needs,
  };
  const all = new WaitingListeners(native, host, (_, one) => placed.push(one));
  all.begin([change], new Set(['one']));
  const come = async (): Promise<void> => {
    needs = undefined;
    resolve();
    await host.targets.settled();
  };
  return { all, placed, takenBack, come };
}

test('what would have changed a listener in place goes with it, and gives up its own alone', async () => {
  const { all, placed, takenBack, come } = waiting(changeOf(true));
  all.forgetBefore({ ...before, name: 'other' });
  all.forgetBefore({ ...before });
  assert.equal(all.size, 1);
  all.forgetBefore(before);
  assert.deepEqual([all.size, released, takenBack], [0, ['of a fresh chain'], ['one']]);
  await come();
  assert.deepEqual(placed, []);
});

test('what waits to take the place of a listener comes without it', async () => {
  const change = changeOf(false);
  const { all, placed, takenBack, come } = waiting(change);
  all.forgetBefore(before);
  assert.deepEqual([all.size, released, takenBack], [1, [], []]);
  await come();
  assert.deepEqual(placed, [change]);
  assert.equal(change.before, undefined);
});
