import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RbacCondition_Kind as Kind } from '../../../../src/plan/plan.gen.js';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const PACKAGE = 'envoy.extensions.filters.http.rbac.v3';
const ANY = [{ any: true }];
const rbac = (rules: object, fields: object = {}) => ({
  name: 'r',
  typed_config: any(`${PACKAGE}.RBAC`, { rules, ...fields }),
});
const permits = (permission: object) =>
  rbac({ policies: { p: { permissions: [permission], principals: ANY } } });
const conditionOf = (permission: object) =>
  compiled([permits(permission)]).filters?.[0]?.rbac?.rules?.policies?.[0]?.permission;

test('policies of rbac are asked in the order of their names', () => {
  const policy = { permissions: ANY, principals: ANY };
  const { filters } = compiled([rbac({ policies: { b: policy, a: policy, B: policy } })]);
  const names = filters?.[0]?.rbac?.rules?.policies?.map(({ name }) => name);
  assert.deepEqual(names, ['B', 'a', 'b']);
});

test('conditions are a tree', () => {
  const any_of = [{ url_path: { path: { prefix: '/a' } } }, { not_rule: { destination_port: 80 } }];
  const condition = conditionOf({ or_rules: { rules: any_of } });
  assert.equal(condition?.kind, Kind.OR);
  assert.deepEqual(
    condition?.parts?.map(({ kind }) => kind),
    [Kind.PATH, Kind.NOT],
  );
  assert.equal(condition?.parts?.[1]?.parts?.[0]?.end_port, 81);
});

test('metadata are what filters have set, or the route has', () => {
  const kindOf = (metadata_source: string) =>
    conditionOf({
      sourced_metadata: {
        metadata_matcher: { filter: 'a', path: [{ key: 'b' }], value: { present_match: true } },
        metadata_source,
      },
    })?.kind;
  assert.equal(kindOf('DYNAMIC'), Kind.METADATA);
  assert.equal(kindOf('ROUTE'), Kind.ROUTE_METADATA);
});

test('ranges of ports have a beginning, and end behind it', () => {
  const issuesOf = (destination_port_range: object): string =>
    compiled([permits({ destination_port_range })]).issues.join();
  assert.match(issuesOf({ start: 5, end: 5 }), /cannot be greater or equal/);
  assert.match(issuesOf({ start: 1, end: 65_537 }), /range end 65537 is out of bounds/);
});

test('CEL is refused by name', () => {
  const condition = { policies: { p: { permissions: ANY, principals: ANY, condition: {} } } };
  assert.match(compiled([rbac(condition)]).issues.join(), /condition/);
});

test('a tree of matchers ends with actions, each with its name', () => {
  const input = any('envoy.type.matcher.v3.HttpRequestHeaderMatchInput', { header_name: 'X-Who' });
  const action = (fields: object) => ({
    action: { name: 'a', typed_config: any('envoy.config.rbac.v3.Action', fields) },
  });
  const map = { me: action({ name: 'mine' }), you: action({ name: 'yours', action: 'DENY' }) };
  const matcher = {
    matcher_tree: { input: { name: 'i', typed_config: input }, exact_match_map: { map } },
  };
  const config = { name: 'r', typed_config: any(`${PACKAGE}.RBAC`, { matcher }) };
  const result = compiled([config]);
  assert.deepEqual(result.issues, []);
  const tree = result.filters?.[0]?.rbac?.tree;
  assert.deepEqual(tree?.actions, [
    { name: 'mine', action: 0 },
    { name: 'yours', action: 1 },
  ]);
  assert.equal(tree?.tree?.nodes?.[0]?.input?.name, 'x-who');
});

test('where there is a tree rules do not count, which is told', () => {
  const action = any('envoy.config.rbac.v3.Action', { name: 'all' });
  const on_no_match = { action: { name: 'a', typed_config: action } };
  const rules = { policies: { p: { permissions: ANY, principals: ANY } } };
  const result = compiled([rbac(rules, { shadow_rules: rules, matcher: { on_no_match } })]);
  assert.match(result.issues.join(), /warning .*\.rules: RBAC rules are ignored when matcher is/);
  const compiledRbac = result.filters?.[0]?.rbac;
  assert.equal(compiledRbac?.rules, undefined);
  assert.deepEqual(compiledRbac?.tree?.actions, [{ name: 'all', action: 0 }]);
  assert.equal(compiledRbac.shadow?.policies?.length, 1);
  assert.equal(compiledRbac.shadow_tree, undefined);
});

test('a template of a path is what it says, segment by segment', () => {
  const type = 'envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig';
  const templated = (path_template: string) => ({
    uri_template: { name: 't', typed_config: any(type, { path_template }) },
  });
  assert.match(
    conditionOf(templated('/users/{id}/*'))?.text?.regex?.pattern ?? '',
    /^\/users\/\(\[.*\]\+\)\/\[.*\]\+$/,
  );
  for (const wrong of ['users', '/{a}/{a}', '/**/*', '/{', '/{a=**}/{b}', '/a b']) {
    const { issues } = compiled([permits(templated(wrong))]);
    assert.match(issues.join(), /Invalid path template/, wrong);
  }
});

test('a route may have rules of its own, or none', () => {
  const none = compiled([rbac({})], { route: { r: any(`${PACKAGE}.RBACPerRoute`) } });
  assert.deepEqual(none.issues, []);
  assert.equal(none.configs?.[0]?.rbac?.rules, undefined);
  const own = { rbac: { rules: {}, track_per_rule_stats: true } };
  const counted = compiled([rbac({})], { route: { r: any(`${PACKAGE}.RBACPerRoute`, own) } });
  assert.deepEqual(counted.issues, []);
  assert.equal(counted.configs?.[0]?.rbac?.counts_policies, true);
});
