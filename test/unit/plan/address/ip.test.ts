import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIp, parseIp } from '../../../../src/plan/address/ip.js';

const CANONICAL: readonly (readonly [string, string])[] = [
  ['127.0.0.1', '127.0.0.1'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['2001:DB8::00ff', '2001:db8::ff'],
  ['::', '::'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
  ['fe80::', 'fe80::'],
];

for (const [text, canonical] of CANONICAL) {
  test(`${text} reads and prints as ${canonical}`, () => {
    const ip = parseIp(text);
    assert.ok(ip);
    assert.equal(ip.length, text.includes(':') ? 16 : 4);
    assert.equal(formatIp(ip), canonical);
  });
}

for (const text of [
  '',
  'localhost',
  '127.0.0',
  '1.2.3.256',
  '::1::',
  'fe80::1%eth0',
  '01.2.3.4x',
]) {
  test(`"${text}" is no address`, () => assert.equal(parseIp(text), undefined));
}
