// What an update of listeners comes to for the data plane: one plan, whatever it changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DynamicChain } from '../../../src/plan/listener/lds-plan.js';
import type { RouteTable } from '../../../src/plan/plan.gen.js';
import {
  Round,
  isAbout,
  type Change,
  type KnownListener,
} from '../../../src/xds/listener-round.js';

const on = (port: number): object => ({ ip: new Uint8Array([127, 0, 0, 1]), port });

const chain = (...tables: readonly RouteTable[]): DynamicChain =>
  ({ id: 1, routes: { tables } }) as unknown as DynamicChain;

function known(
  name: string,
  port: number,
  chains = new Map<string, DynamicChain>(),
): KnownListener {
  const plan = { name, address: on(port) };
  const own = { id: 1, name, version: 'v1', message: { name } };
  return { ...own, chains, discovered: [], secrets: [], plan, updatedMs: 0 };
}

const current = (...listeners: readonly KnownListener[]): ReadonlyMap<string, KnownListener> =>
  new Map(listeners.map((one) => [one.plan.name ?? '', one]));

function change(name: string, port: number, more: Partial<Change> = {}): Change {
  const chains = new Map([['fresh', chain({ name: `routes of ${name}` })]]);
  const plan = { name, address: on(port), filter_chains: [{ id: 7 }] };
  const rest = { chains, known: new Map(), before: undefined, isInPlace: false };
  const later = { discovered: [], secrets: [] };
  return { id: 5, version: 'v2', message: { name }, plan, ...rest, ...later, ...more };
}

test('what is removed, replaced, added and changed in place goes together', () => {
  const [moving, staying] = [known('moving', 1), known('staying', 2)];
  const round = new Round(['gone'], current(known('gone', 3), moving, staying));
  round.add(change('moving', 4, { before: moving }));
  round.add(change('staying', 2, { before: staying, isInPlace: true, id: 1 }));
  round.add(change('new', 3));
  const { route_tables = [], removed_listeners, filter_chains, listeners = [] } = round.update;
  assert.deepEqual(removed_listeners, ['gone']);
  assert.deepEqual(filter_chains, [{ listener: 'staying', filter_chains: [{ id: 7 }] }]);
  assert.deepEqual(
    listeners.map(({ name, id }) => [name, id]),
    [
      ['moving', 5],
      ['new', 5],
    ],
  );
  assert.deepEqual(
    route_tables.map(({ name }) => name),
    ['routes of moving', 'routes of staying', 'routes of new'],
  );
  assert.deepEqual(
    [...round.plans].map(({ name }) => name),
    ['moving', 'staying', 'new'],
  );
});

test('an address that a change leaves is not free before that change has been made', () => {
  const moving = known('moving', 1);
  const round = new Round(['gone'], current(known('gone', 3), moving));
  round.add(change('moving', 4, { before: moving }));
  assert.equal(round.isAddressLeft({ address: on(1) }), true);
  // One that is removed cannot be kept.
  assert.equal(round.isAddressLeft({ address: on(3) }), false);
  round.begin([], current(moving));
  assert.equal(round.isAddressLeft({ address: on(1) }), false);
  assert.deepEqual(round.changes, []);
});

test('routes of chains that were there already are not sent again', () => {
  const same = chain({ name: 'old' });
  const chains = new Map([
    ['same', same],
    ['fresh', chain({ name: 'new' })],
  ]);
  const round = new Round([], current());
  round.add(change('one', 1, { chains, known: new Map([['same', same]]) }));
  assert.deepEqual(round.update.route_tables, [{ name: 'new' }]);
});

test('errors are told of the listener that they are about, and of all where that is unknown', () => {
  const one = change('one', 1);
  const error = (kind: 'listener' | 'route_table' | 'plan', name: string): boolean =>
    isAbout({ kind, name, message: '' }, one);
  assert.equal(error('listener', 'one'), true);
  assert.equal(error('listener', 'two'), false);
  assert.equal(error('route_table', 'routes of one'), true);
  assert.equal(error('route_table', 'routes of two'), false);
  assert.equal(error('plan', ''), true);
});
