import assert from 'node:assert/strict';
import { endianness } from 'node:os';
import { test } from 'node:test';
import {
  compileSocketOptions,
  ipv4Compatibility,
} from '../../../../src/plan/address/socket-options.js';

const V4 = Uint8Array.of(127, 0, 0, 1);
const V6 = new Uint8Array(16);

test('an integer is an int of C, of which the lower bits count; bytes are as they are', () => {
  const values = compileSocketOptions(
    [
      { level: 1, name: 8, int_value: 0x3039 },
      { level: 1, name: 8, int_value: -1 },
      { level: 1, name: 8, int_value: 2 ** 33 + 5 },
      { level: 1, name: 8, buf_value: Uint8Array.of(7) },
    ],
    V4,
  ).map(({ value }) => [...value]);
  const ordered = (...bytes: number[]): number[] =>
    endianness() === 'LE' ? bytes : bytes.toReversed();
  assert.deepEqual(values, [
    ordered(0x39, 0x30, 0, 0),
    [255, 255, 255, 255],
    ordered(5, 0, 0, 0),
    [7],
  ]);
});

test('an option is set before binding unless it names another state', () => {
  const states = compileSocketOptions(
    [{}, { state: 'STATE_PREBIND' }, { state: 'STATE_BOUND' }, { state: 'STATE_LISTENING' }],
    V4,
  ).map(({ state }) => state);
  assert.deepEqual(states, [0, 0, 1, 2]);
});

test('options of datagram sockets and of the other version of IP are left out', () => {
  const options = [
    { name: 1, type: { datagram: {} } },
    { name: 2, type: { stream: {} } },
    { name: 3, ip_version: 'SOCKET_IP_VERSION_IPV4' },
    { name: 4, ip_version: 'SOCKET_IP_VERSION_IPV6' },
    { name: 5, ip_version: 'SOCKET_IP_VERSION_UNSPECIFIED' },
  ] as const;
  const names = (ip: Uint8Array | undefined): number[] =>
    compileSocketOptions(options, ip).map(({ name }) => name);
  assert.deepEqual(
    [names(V4), names(V6), names(undefined)],
    [
      [2, 3, 5],
      [2, 4, 5],
      [2, 5],
    ],
  );
});

test('ipv4_compat is an option of sockets of IPv6 that listen, and of no others', () => {
  const address = (ipv4_compat: boolean) => ({ socket_address: { ipv4_compat } });
  const [option, ...others] = ipv4Compatibility(address(true), V6);
  // IPPROTO_IPV6, IPV6_V6ONLY
  assert.deepEqual([option?.level, option?.name, option?.state], [41, 26, 0]);
  assert.deepEqual(option?.value, new Uint8Array(4));
  assert.deepEqual(others, []);
  assert.deepEqual(ipv4Compatibility(address(true), V4), []);
  assert.deepEqual(ipv4Compatibility(address(false), V6), []);
  assert.deepEqual(ipv4Compatibility({ pipe: { path: '/p' } }, undefined), []);
});
