import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alternativeNames } from '../../../src/grpc/alternative-names.js';

test('the names of a certificate are told apart by type, quoted ones too', () => {
  assert.deepEqual(
    alternativeNames(
      'DNS:a.example, URI:"spiffe://x/a, b", IP Address:127.0.0.1, email:me@example, othername:<unsupported>',
    ),
    [
      { type: 'DNS', value: 'a.example' },
      { type: 'URI', value: 'spiffe://x/a, b' },
      { type: 'IP_ADDRESS', value: '127.0.0.1' },
      { type: 'EMAIL', value: 'me@example' },
    ],
  );
  assert.deepEqual(alternativeNames(''), []);
});

test('a name inside a quoted one is not a name', () => {
  assert.deepEqual(alternativeNames('URI:"x, DNS:evil.example"'), [
    { type: 'URI', value: 'x, DNS:evil.example' },
  ]);
});

test('addresses are written as in configurations, not as OpenSSL does', () => {
  assert.deepEqual(alternativeNames('IP Address:FD00:A123:0:0:0:0:0:1, IP Address:10.0.0.1'), [
    { type: 'IP_ADDRESS', value: 'fd00:a123::1' },
    { type: 'IP_ADDRESS', value: '10.0.0.1' },
  ]);
});
