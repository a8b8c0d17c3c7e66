import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const MATCHING = 'envoy.extensions.common.matching.v3';
const COMPOSITE = 'envoy.extensions.filters.http.composite.v3';
const FAULT = 'envoy.extensions.filters.http.fault.v3.HTTPFault';
const SKIP = {
  name: 's',
  typed_config: any('envoy.extensions.filters.common.matcher.action.v3.SkipFilter'),
};
const fault = { name: 'f', typed_config: any(FAULT) };

const byHeader = (map: object) => ({
  matcher_tree: {
    input: {
      name: 'h',
      typed_config: any('envoy.type.matcher.v3.HttpRequestHeaderMatchInput', {
        header_name: 'X-A',
      }),
    },
    exact_match_map: { map },
  },
});
const execute = (fields: object) => ({
  action: { name: 'e', typed_config: any(`${COMPOSITE}.ExecuteFilterAction`, fields) },
});
const withMatcher = (inner: object, xds_matcher: object) => ({
  name: 'chosen',
  typed_config: any(`${MATCHING}.ExtensionWithMatcher`, { extension_config: inner, xds_matcher }),
});

test('a filter that some requests skip is the filter itself, with a tree', () => {
  const result = compiled([withMatcher(fault, byHeader({ no: { action: SKIP } }))]);
  assert.deepEqual(result.issues, []);
  const filter = result.filters?.[0];
  assert.ok(filter?.fault);
  assert.deepEqual(filter.match?.actions, [{ skips: true }]);
});

test('what stands in the place of a composite filter is compiled with it', () => {
  const composite = { name: 'c', typed_config: any(`${COMPOSITE}.Composite`) };
  const map = {
    one: execute({ typed_config: fault, sample_percent: { default_value: { numerator: 5 } } }),
    two: execute({ filter_chain: { typed_config: [fault, fault] } }),
  };
  const result = compiled([withMatcher(composite, byHeader(map))]);
  assert.deepEqual(result.issues, []);
  const actions = result.filters?.[0]?.match?.actions ?? [];
  assert.deepEqual(
    actions.map(({ name, filters }) => [name, filters?.length]),
    [
      ['f', 1],
      ['filter_chain', 2],
    ],
  );
  assert.deepEqual(actions[0]?.share, { millionths: 50_000, slot: 0 });
});

test('a composite filter has chains by name, and a tree of its own', () => {
  const matcher = byHeader({ one: execute({ filter_chain_name: 'n' }) });
  const typed_config = any(`${COMPOSITE}.Composite`, {
    named_filter_chains: { n: { typed_config: [fault] } },
    matcher,
  });
  const result = compiled([{ name: 'c', typed_config }]);
  assert.deepEqual(result.issues, []);
  assert.equal(result.filters?.[0]?.match?.actions?.[0]?.filters?.length, 1);
});

test('a route has a tree of its own, for the connection manager that it is of', () => {
  const xds_matcher = byHeader({ no: { action: SKIP } });
  const result = compiled([withMatcher(fault, byHeader({}))], {
    route: { chosen: any(`${MATCHING}.ExtensionWithMatcherPerRoute`, { xds_matcher }) },
  });
  assert.deepEqual(result.issues, []);
  assert.equal(result.configs?.[0]?.match?.stat_prefix, 'in');
});

test('a filter that comes later may be chosen, but not by a route; unknown actions are refused', () => {
  const composite = { name: 'c', typed_config: any(`${COMPOSITE}.Composite`) };
  const dynamic = execute({
    dynamic_config: {
      name: 'later',
      config_discovery: {
        config_source: { path_config_source: { path: '/dev/null' } },
        type_urls: [`type.googleapis.com/${FAULT}`],
      },
    },
  });
  const xds_matcher = byHeader({ a: dynamic });
  const { issues, filters } = compiled([withMatcher(composite, xds_matcher)]);
  assert.deepEqual(issues, []);
  const [action] = filters?.[0]?.match?.actions ?? [];
  assert.deepEqual(action?.filters?.[0]?.discovered?.filter, []);
  const route = { chosen: any(`${MATCHING}.ExtensionWithMatcherPerRoute`, { xds_matcher }) };
  assert.match(
    compiled([withMatcher(composite, byHeader({}))], { route }).issues.join(),
    /a filter that comes later \(dynamic_config\) is not supported in routes/,
  );
  const other = { action: { name: 'o', typed_config: any(FAULT) } };
  assert.match(
    compiled([withMatcher(composite, byHeader({ a: other }))]).issues.join(),
    /Didn't find a registered implementation for 'o'/,
  );
});
