import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Issue } from '../../../../src/config/issues/issue.js';
import { messageKey } from '../../../../src/config/values/same-message.js';
import {
  compileDynamicListener,
  differInChainsAlone,
  releaseNew,
} from '../../../../src/plan/listener/lds-plan.js';
import { Place } from '../../../../src/plan/message/place.js';
import { HCM, ROUTER, any, compile, socketAddress } from '../helpers.js';

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

test('what two equal chains of a refused listener ask for is given up', () => {
  const { context } = compile({});
  const from = { resource_api_version: 'V3', path_config_source: { path: '/dev/null' } };
  const generic = any('envoy.extensions.http.injected_credentials.generic.v3.Generic', {
    credential: { name: 'secret', sds_config: from },
  });
  const injector = any('envoy.extensions.filters.http.credential_injector.v3.CredentialInjector', {
    credential: { name: 'own', typed_config: generic },
  });
  const manager = any(HCM, {
    stat_prefix: 'in',
    rds: { route_config_name: 'later', config_source: from },
    http_filters: [{ name: 'injector', typed_config: injector }, ROUTER],
  });
  const chain = { filters: [{ name: 'manager', typed_config: manager }] };
  const issues: Issue[] = [];
  const { chains } = compileDynamicListener(
    { name: 'twice', address: socketAddress(10_000), filter_chains: [chain, { ...chain }] },
    Place.root(issues),
    context,
    new Map(),
  );
  assert.match(issues.map(({ message }) => message).join(), /the same matching rules defined/);
  assert.deepEqual([context.routes.requests.length, context.live.has('secret')], [1, true]);
  releaseNew(chains, new Map());
  assert.deepEqual([context.routes.requests.length, context.live.has('secret')], [0, false]);
});
