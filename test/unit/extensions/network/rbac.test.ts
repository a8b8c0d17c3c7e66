import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RbacCondition_Kind } from '../../../../src/plan/plan.gen.js';
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

test('principals may ask what filters have kept, and trees take the place of policies', () => {
  const kept = {
    permissions: [{ any: true }],
    principals: [
      { filter_state: { key: 'who', string_match: { exact: 'me' } } },
      {
        filter_state: {
          key: 'from',
          address_match: { ranges: [{ address_prefix: '10.0.0.0', prefix_len: 8 }] },
        },
      },
    ],
  };
  const tree = {
    matcher_tree: {
      input: {
        name: 'port',
        typed_config: any(
          'envoy.extensions.matching.common_inputs.network.v3.DestinationPortInput',
        ),
      },
      exact_match_map: {
        map: {
          '80': {
            action: {
              name: 'act',
              typed_config: any('envoy.config.rbac.v3.Action', { name: 'p', action: 'DENY' }),
            },
          },
        },
      },
    },
  };
  const compiled = compileRbac({ rules: { policies: { kept } }, shadow_matcher: tree });
  assert.deepEqual(issuesOf(compiled), []);
  const [guard] = compiled.update.listeners?.[0]?.filter_chains?.[0]?.guards ?? [];
  const parts = guard?.rbac?.rules?.policies?.[0]?.principal?.parts;
  assert.deepEqual(
    parts?.map(({ kind, key, ranges }) => [kind, key, ranges?.length]),
    [
      [RbacCondition_Kind.FILTER_STATE, 'who', undefined],
      [RbacCondition_Kind.FILTER_STATE, 'from', 1],
    ],
  );
  assert.deepEqual(guard?.rbac?.shadow_tree?.actions, [{ name: 'p', action: 1 }]);
  const header = {
    ...tree.matcher_tree,
    input: {
      name: 'h',
      typed_config: any('envoy.type.matcher.v3.HttpRequestHeaderMatchInput', { header_name: 'a' }),
    },
  };
  assert.notDeepEqual(issuesOf(compileRbac({ matcher: { matcher_tree: header } })), []);
});
