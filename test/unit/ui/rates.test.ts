import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rates, sum } from '../../../src/ui/rates.js';

const values = (total: number): ReadonlyMap<string, number> => new Map([['total', total]]);

test('a rate needs two readings', () => {
  const rates = new Rates();
  rates.add(values(100), 1000);
  assert.equal(rates.rate('total'), undefined);
  rates.add(values(150), 3000);
  assert.equal(rates.rate('total'), 25);
});

test('a counter that was reset has no rate until the next reading', () => {
  const rates = new Rates();
  rates.add(values(100), 1000);
  rates.add(values(4), 2000);
  assert.equal(rates.rate('total'), undefined);
  rates.add(values(10), 3000);
  assert.equal(rates.rate('total'), 6);
});

test('a counter that is new counts from nothing', () => {
  const rates = new Rates();
  rates.add(new Map(), 1000);
  rates.add(values(7), 2000);
  assert.equal(rates.rate('total'), 7);
});

test('what is not known is left out of a sum', () => {
  assert.equal(sum([1, undefined, 2]), 3);
  assert.equal(sum([undefined]), undefined);
});
