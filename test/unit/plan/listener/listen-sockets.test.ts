import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addressesText,
  addressesOf,
  fixedAddresses,
} from '../../../../src/plan/listener/listen-sockets.js';
import type { Listener } from '../../../../src/plan/plan.gen.js';
import { any, compileStatic, ECHO, issuesOf, listenerOf, socketAddress } from '../helpers.js';

function listener(fields: object) {
  const compiled = compileStatic({ listeners: [listenerOf(any(ECHO), fields)] });
  return { issues: issuesOf(compiled), plan: compiled.update.listeners?.[0] };
}

const planOf = (fields: object): Listener => {
  const { plan, issues } = listener(fields);
  assert.deepEqual(issues, []);
  assert.ok(plan);
  return plan;
};
const optionsOf = (plan: Listener) =>
  addressesOf(plan).map(({ socket_options: options = [] }) =>
    options.map(({ level = 0, name = 0 }) => `${String(level)}/${String(name)}`),
  );

test('a listener of several addresses is known by all of them', () => {
  const plan = planOf({
    additional_addresses: [{ address: socketAddress(0) }, { address: socketAddress(80, '::1') }],
  });
  assert.equal(addressesText(addressesOf(plan)), '127.0.0.1:10000,127.0.0.1:0,[::1]:80');
  assert.deepEqual(fixedAddresses(plan), ['127.0.0.1:10000', '[::1]:80']);
});

test('an address has the options of its listener, unless it has some of its own', () => {
  const option = { level: 1, name: 9, int_value: 1, state: 'STATE_PREBIND' };
  const plan = planOf({
    socket_options: [option],
    additional_addresses: [
      { address: socketAddress(1) },
      { address: socketAddress(2), socket_options: { socket_options: [{ ...option, name: 10 }] } },
      { address: socketAddress(3), socket_options: {} },
    ],
  });
  assert.deepEqual(optionsOf(plan), [['1/9'], ['1/9'], ['1/10'], []]);
});

test('keepalive is an option of the sockets that have it', () => {
  const plan = planOf({
    tcp_keepalive: {},
    additional_addresses: [
      { address: socketAddress(1), tcp_keepalive: { keepalive_time: 5 } },
      { address: { pipe: { path: '@p' } } },
    ],
  });
  assert.deepEqual(optionsOf(plan), [['1/9'], ['1/9', '6/4'], []]);
});

test('addresses of another kind are refused', () => {
  const issues = (address: object): string =>
    listener({ additional_addresses: [{ address }] }).issues.join();
  assert.match(
    issues({ envoy_internal_address: { server_listener_name: 'x' } }),
    /use internal_listener field instead of address/,
  );
  assert.match(
    issues({ socket_address: { address: '127.0.0.1', port_value: 1, protocol: 'UDP' } }),
    /listener main: has different socket type/,
  );
  assert.match(
    listener({ enable_mptcp: true, address: { pipe: { path: '@p' } } }).issues.join(),
    /enable_mptcp can only be used with IP addresses/,
  );
});

test('connections are shared out exactly, or as the kernel does', () => {
  const balances = (connection_balance_config?: object) => listener({ connection_balance_config });
  assert.equal(balances().plan?.balances_exactly ?? false, false);
  assert.equal(balances({ exact_balance: {} }).plan?.balances_exactly, true);
  assert.match(
    balances({ extend_balance: { name: 'x', typed_config: any('a.B') } }).issues.join(),
    /Didn't find a registered implementation for type: 'a\.B'/,
  );
});

test('only an address that stands for some of IPv4 may ask for ipv4_compat', () => {
  const compatible = (address: string) => ({
    address: { socket_address: { address, port_value: 0, ipv4_compat: true } },
  });
  for (const address of ['::', '::ffff:127.0.0.1']) {
    assert.deepEqual(listener(compatible(address)).issues, []);
  }
  for (const address of ['127.0.0.1', '::1']) {
    assert.match(
      listener(compatible(address)).issues.join(),
      /Only IPv6 address '::' or valid IPv4-mapped IPv6 address can set ipv4_compat/,
    );
  }
});
