import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  MatchInput_Kind as Input,
  MatchNode_Kind as Node,
  MatchPredicate_Kind as Predicate,
  StringMatch_Kind as Text,
} from '../../../../src/plan/plan.gen.js';
import { any, compileStatic, ECHO, issuesOf, listenerOf } from '../helpers.js';

const NETWORK = 'envoy.extensions.matching.common_inputs.network.v3';
const PORT = { name: 'port', typed_config: any(`${NETWORK}.DestinationPortInput`) };
const SOURCE = { name: 'source', typed_config: any(`${NETWORK}.SourceIPInput`) };
const SAYS = 'cannot create a filter chain matcher: ';

const to = (value: string) => ({
  action: { name: value, typed_config: any('google.protobuf.StringValue', { value }) },
});
const chain = (name: string) => ({
  name,
  filters: [{ name: 'filter', typed_config: any(ECHO) }],
});

function compile(tree: object, chains = [chain('a'), chain('b')]) {
  const fields = { filter_chains: chains, filter_chain_matcher: tree };
  const compiled = compileStatic({ listeners: [listenerOf(any(ECHO), fields)] });
  return { issues: issuesOf(compiled), plan: compiled.update.listeners?.[0]?.chain_tree };
}
const custom = (input: object, type: string, fields: object) => ({
  matcher_tree: { input, custom_match: { name: 'custom', typed_config: any(type, fields) } },
});
const when = (match: object) => ({
  matcher_list: {
    matchers: [{ predicate: { single_predicate: { input: SOURCE, ...match } }, on_match: to('a') }],
  },
});

test('trees within trees become one list of nodes, each before those it leads to', () => {
  const { issues, plan } = compile({
    matcher_tree: {
      input: PORT,
      exact_match_map: {
        map: {
          80: to('b'),
          443: {
            matcher: {
              ...custom(SOURCE, 'xds.type.matcher.v3.IPMatcher', {
                range_matchers: [
                  {
                    ranges: [{ address_prefix: '10.0.0.0', prefix_len: 8 }],
                    exclusive: true,
                    on_match: to('a'),
                  },
                ],
              }),
              on_no_match: to('b'),
            },
          },
        },
      },
    },
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(plan?.chains, ['b', 'a']);
  const ip = Uint8Array.of(10, 0, 0, 0);
  assert.deepEqual(plan?.tree?.nodes, [
    {
      kind: Node.EXACT,
      input: { kind: Input.DESTINATION_PORT },
      edges: [
        { text: '80', outcome: { action: 0 } },
        { text: '443', outcome: { node: 1 } },
      ],
    },
    {
      kind: Node.IP,
      input: { kind: Input.SOURCE_IP },
      edges: [{ range: { ip, prefix_length: 8 }, exclusive: true, outcome: { action: 1 } }],
      otherwise: { action: 0 },
    },
  ]);
});

test('predicates keep their shape; regular expressions are compiled', () => {
  const one = (value_match: object) => ({ single_predicate: { input: SOURCE, value_match } });
  const { issues, plan } = compile({
    matcher_list: {
      matchers: [
        {
          predicate: {
            or_matcher: {
              predicate: [
                { not_matcher: one({ prefix: '10.', ignore_case: true }) },
                one({ safe_regex: { google_re2: {}, regex: '1.*' } }),
              ],
            },
          },
          on_match: to('a'),
        },
      ],
    },
  });
  assert.deepEqual(issues, []);
  const predicate = plan?.tree?.nodes?.[0]?.edges?.[0]?.predicate;
  assert.equal(predicate?.kind, Predicate.OR);
  assert.equal(predicate?.parts?.[0]?.kind, Predicate.NOT);
  assert.equal(predicate?.parts?.[0]?.parts?.[0]?.text?.ignore_case, true);
  assert.equal(predicate?.parts?.[1]?.text?.kind, Text.REGEX);
});

test('a matcher of addresses has a statistic of its own, and asks addresses only', () => {
  const match = {
    custom_match: {
      name: 'ip',
      typed_config: any('envoy.extensions.matching.input_matchers.ip.v3.Ip', {
        cidr_ranges: [{ address_prefix: '10.0.0.0', prefix_len: 8 }],
        stat_prefix: 'near',
      }),
    },
  };
  const { issues, plan } = compile(when(match));
  assert.deepEqual(issues, []);
  assert.deepEqual(plan?.tree?.ip_stat_prefixes, ['near']);
  assert.equal(plan?.tree?.nodes?.[0]?.edges?.[0]?.predicate?.kind, Predicate.IP);
});

test('chains of a tree need names of their own', () => {
  const { issues } = compile({}, [chain(''), chain('a'), chain('a')]);
  const at = 'static_resources.listeners[0].filter_chains';
  const listener = "error adding listener '127.0.0.1:10000': ";
  assert.deepEqual(issues, [
    `error ${at}[0]: ${listener}"name" field is required when using a listener matcher`,
    `error ${at}[2]: ${listener}"name" field is duplicated with value 'a'`,
  ]);
});

test('what a tree does not know is refused by its name', () => {
  const { issues } = compile({
    matcher_tree: {
      input: { name: 'x', typed_config: any('google.protobuf.Empty') },
      exact_match_map: {
        map: { a: { action: { name: 'y', typed_config: any('google.protobuf.Empty') } } },
      },
    },
  });
  const unregistered = (name: string) =>
    `${SAYS}Didn't find a registered implementation for '${name}' with type URL: 'google.protobuf.Empty'`;
  assert.deepEqual(issues, [
    `error typed_config: ${unregistered('x')}`,
    `error typed_config: ${unregistered('y')}`,
  ]);
});

test('CEL is refused as such', () => {
  const cel = { name: 'cel', typed_config: any('xds.type.matcher.v3.CelMatcher') };
  assert.deepEqual(compile(when({ custom_match: cel })).issues, [
    `error typed_config: ${SAYS}the Common Expression Language is not supported`,
  ]);
});

test('domains are names, ends of names or the star, each once', () => {
  const domains = ['a.test', '*.test', '*', 'a.*', 'a.test'];
  const { issues } = compile(
    custom(SOURCE, 'xds.type.matcher.v3.ServerNameMatcher', {
      domain_matchers: [{ domains, on_match: to('a') }],
    }),
  );
  const at = 'error typed_config.domain_matchers[0].domains';
  assert.deepEqual(issues, [
    `${at}[3]: ${SAYS}Invalid wildcard domain format: a.*. Only '*' and '*.domain' patterns are supported`,
    `${at}[4]: ${SAYS}Duplicate domain in ServerNameMatcher: a.test`,
  ]);
});
