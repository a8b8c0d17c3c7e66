import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compileStatic, ECHO, issuesOf, socketAddress } from '../../plan/helpers.js';

const TYPE = 'envoy.extensions.filters.network.rbac.v3.RBAC';
const ALL = { permissions: [{ any: true }], principals: [{ any: true }] };

const compileRbac = (fields: object) =>
  compileStatic({
    clusters: [],
    listeners: [
      {
        name: 'main',
        address: socketAddress(10_000),
        filter_chains: [
          {
            filters: [
              { name: 'rbac', typed_config: any(TYPE, { stat_prefix: 'r', ...fields }) },
              { name: 'echo', typed_config: any(ECHO) },
            ],
          },
        ],
      },
    ],
  });

test('rules of connections are asked once unless they are always, and refuse at once unless they wait', () => {
  const compiled = compileRbac({ rules: { policies: { all: ALL } } });
  assert.deepEqual(issuesOf(compiled), []);
  const [guard] = compiled.update.listeners?.[0]?.filter_chains?.[0]?.guards ?? [];
  const rbac = guard?.rbac;
  assert.equal(rbac?.is_continuous, false);
  assert.equal(rbac.delay_ms, 0);
  assert.equal(rbac.rules?.policies?.[0]?.name, 'all');
  const other = compileRbac({
    shadow_rules: { action: 'DENY', policies: { all: ALL } },
    shadow_rules_stat_prefix: 's',
    enforcement_type: 'CONTINUOUS',
    delay_deny: 500,
  });
  const [second] = other.update.listeners?.[0]?.filter_chains?.[0]?.guards ?? [];
  const shadow = second?.rbac;
  assert.equal(shadow?.is_continuous, true);
  assert.equal(shadow.delay_ms, 500);
  assert.equal(shadow.shadow_stat_prefix, 's');
  assert.equal(shadow.rules, undefined);
});

test('a rule that speaks of headers is refused, however deep it is', () => {
  const header = { header: { name: 'a', present_match: true } };
  const policies = {
    p: { ...ALL, permissions: [{ not_rule: { or_rules: { rules: [header] } } }] },
  };
  assert.match(
    issuesOf(compileRbac({ rules: { policies } })).join(),
    /Found header rule, not supported by RBAC network filter/,
  );
});

test('it is no filter to end a chain with', () => {
  const compiled = compileStatic({
    clusters: [],
    listeners: [
      {
        name: 'main',
        address: socketAddress(10_000),
        filter_chains: [
          { filters: [{ name: 'rbac', typed_config: any(TYPE, { stat_prefix: 'r' }) }] },
        ],
      },
    ],
  });
  assert.match(
    issuesOf(compiled).join(),
    /non-terminal filter named rbac of type envoy\.filters\.network\.rbac/,
  );
});
