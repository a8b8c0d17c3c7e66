import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageKey } from '../../../../src/config/values/same-message.js';
import { differInChainsAlone } from '../../../../src/plan/listener/lds-plan.js';

test('messages that say the same have one key, whatever the order of their fields', () => {
  assert.equal(
    messageKey({ a: 1, b: { c: [1, 2], d: 2 } }),
    messageKey({ b: { d: 2, c: [1, 2] }, a: 1 }),
  );
  assert.notEqual(messageKey({ a: [1, 2] }), messageKey({ a: [2, 1] }));
});

test('only filter chains may differ where a listener is to keep its sockets', () => {
  const one = { name: 'a', filter_chains: [{ name: '1' }] };
  assert.ok(differInChainsAlone(one, { filter_chains: [{ name: '2' }], name: 'a' }));
  assert.ok(differInChainsAlone(one, { ...one, default_filter_chain: {} }));
  assert.ok(!differInChainsAlone(one, { ...one, stat_prefix: 'x' }));
  const spelledOut = { stat_prefix: '', connection_balance_config: { exact_balance: {} } } as const;
  assert.ok(differInChainsAlone(one, { ...one, ...spelledOut, drain_type: 'DEFAULT' }));
  assert.ok(!differInChainsAlone(one, { ...one, metadata: { filter_metadata: { a: {} } } }));
  assert.ok(!differInChainsAlone(one, { name: 'a', default_filter_chain: {} }));
});
