import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChainRoutes, RouteSlots } from '../../../src/plan/route-slots.js';

const request = (name: string, chain: readonly string[] = []) => ({
  name,
  source: { kind: 'file' as const, path: '/rds', watchesWrites: false },
  statPrefix: 'web',
  chain: chain.map((filter) => ({ name: filter, type: filter })),
});

test('what a chain has of routes is its own, and free again once it is gone', () => {
  const slots = new RouteSlots();
  assert.equal(slots.add({ name: 'r' }), 'r');
  const chain = new ChainRoutes(slots);
  assert.equal(chain.add({ name: 'r' }), 'r#2');
  assert.deepEqual(chain.tables, [{ name: 'r#2' }]);
  assert.deepEqual(slots.takeTables(), [{ name: 'r' }]);
  assert.deepEqual(slots.takeTables(), []);
  assert.deepEqual(chain.release(), ['r#2']);
  assert.equal(new ChainRoutes(slots).add({ name: 'r' }), 'r#2');
});

test('routes that several chains ask for are wanted until the last of them is gone', () => {
  const slots = new RouteSlots();
  const [one, other] = [new ChainRoutes(slots), new ChainRoutes(slots)];
  assert.equal(one.request(request('web')), 'web');
  assert.equal(other.request(request('web')), 'web');
  assert.equal(other.request(request('web', ['cors'])), 'web#2');
  const [plan] = slots.requests;
  assert.deepEqual(one.release(), []);
  assert.deepEqual(slots.requests, [plan]);
  assert.deepEqual(other.release(), ['web', 'web#2']);
  assert.deepEqual(slots.requests, []);
});

test('what the bootstrap asks for stays', () => {
  const slots = new RouteSlots();
  slots.request(request('web'));
  const chain = new ChainRoutes(slots);
  chain.request(request('web'));
  assert.deepEqual(chain.release(), []);
  assert.equal(slots.requests.length, 1);
});
