import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quantileOf } from '../../../src/ui/quantile.js';

test('of nothing there is no quantile', () => {
  assert.equal(quantileOf([], 0.5), undefined);
  assert.equal(quantileOf([{ lower: 1, width: 1, count: 0 }], 0.5), undefined);
});

test('within a bin, values lie evenly', () => {
  assert.equal(quantileOf([{ lower: 10, width: 1, count: 4 }], 0.5), 10.5);
});

test('bins of several histograms count together, in whatever order they come', () => {
  const bins = [
    { lower: 100, width: 10, count: 1 },
    { lower: 1, width: 0.1, count: 98 },
    { lower: 1, width: 0.1, count: 1 },
  ];
  assert.ok(quantileOf(bins, 0.5)! < 1.1);
  assert.equal(quantileOf(bins, 1), 110);
});
