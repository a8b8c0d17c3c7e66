import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactNumberText, numberText } from '../../../../src/config/values/number-text.js';

test('a number has six significant digits, and an exponent where there are more before the point', () => {
  const texts = [
    [0, '0'],
    [-3, '-3'],
    [1.5, '1.5'],
    [100.25, '100.25'],
    [123_456, '123456'],
    [999_999.5, '1e+06'],
    [1_000_000, '1e+06'],
    [1_234_567, '1.23457e+06'],
    [0.123456789, '0.123457'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [1e100, '1e+100'],
  ] as const;
  for (const [value, text] of texts) assert.equal(numberText(value, 6), text);
});

test('a number that must be read again has as many digits as that takes', () => {
  assert.equal(exactNumberText(250), '250');
  assert.equal(exactNumberText(0.1), '0.1');
  assert.equal(exactNumberText(1e15), '1e+15');
  assert.equal(exactNumberText(0.1 + 0.2), '0.30000000000000004');
  assert.equal(exactNumberText(Number.NEGATIVE_INFINITY), '-inf');
});
