import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MatchInput_Kind } from '../../../../src/plan/plan.gen.js';
import { any, compileStatic, issuesOf, socketAddress } from '../helpers.js';

const INPUTS = 'envoy.extensions.matching.common_inputs.transport_socket.v3';
type Metadata = Record<string, Record<string, unknown>>;

const RAW = {
  name: 'raw',
  typed_config: any('envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer'),
};
const to = (name: string) => ({
  action: { name: 'a', typed_config: any(`${INPUTS}.TransportSocketNameAction`, { name }) },
});
const asking = (kind: string, filter: string, ...path: string[]) => ({
  name: 'i',
  typed_config: any(`${INPUTS}.${kind}MetadataInput`, {
    ...(filter && { filter }),
    path: path.map((key) => ({ key })),
  }),
});

function clusterOf(
  tree: object,
  sockets: object[],
  metadata: Metadata = {},
  locality: Metadata = {},
) {
  const lb_endpoints = [
    { endpoint: { address: socketAddress(80) }, metadata: { filter_metadata: metadata } },
  ];
  const endpoints = [{ metadata: { filter_metadata: locality }, lb_endpoints }];
  const compiled = compileStatic({
    clusters: [
      {
        name: 'a',
        load_assignment: { cluster_name: 'a', endpoints },
        transport_socket_matches: sockets,
        transport_socket_matcher: tree,
      },
    ],
  });
  const { clusters, assignments } = compiled.update;
  return {
    issues: issuesOf(compiled),
    cluster: clusters?.[0],
    host: assignments?.[0]?.hosts?.[0],
  };
}

const byValue = (input: object, map: Record<string, object>) => ({
  matcher_tree: { input, exact_match_map: { map } },
});

test('a host has the values that the tree asks of it, as text or as JSON', () => {
  const tree = {
    matcher_list: {
      matchers: [
        asking('Endpoint', '', 'tls'),
        asking('Endpoint', 'own', 'deep', 'list'),
        asking('Endpoint', 'own', 'number'),
        asking('Endpoint', 'own', 'absent'),
        asking('Endpoint', 'own', 'empty'),
        asking('Locality', '', 'zone'),
      ].map((input) => ({
        predicate: { single_predicate: { input, value_match: { exact: 'x' } } },
        on_match: to('one'),
      })),
    },
  };
  const { issues, host } = clusterOf(
    tree,
    [{ name: 'one', transport_socket: RAW }],
    { 'envoy.lb': { tls: 'yes' }, own: { deep: { list: ['p', 1] }, number: 3, empty: '' } },
    { 'envoy.lb': { zone: 'z' } },
  );
  assert.deepEqual(issues, []);
  assert.deepEqual(host?.socket_values, [
    { metadata_namespace: 'envoy.lb', path: ['tls'], value: 'yes' },
    { metadata_namespace: 'own', path: ['deep', 'list'], value: '["p",1]' },
    { metadata_namespace: 'own', path: ['number'], value: '3' },
    { is_locality: true, metadata_namespace: 'envoy.lb', path: ['zone'], value: 'z' },
  ]);
});

test('an action is the place of its socket; one of a socket that there is not stands for none', () => {
  const tree = byValue(asking('Endpoint', '', 'k'), { a: to('two'), b: to('gone') });
  const sockets = [
    { name: 'one', transport_socket: RAW },
    { name: 'two', transport_socket: RAW },
  ];
  const { issues, cluster } = clusterOf(tree, sockets);
  assert.equal(issues.length, 1);
  assert.match(issues[0] ?? '', /^warning .*Transport socket 'gone' not found, using default/);
  const [node] = cluster?.transport_tree?.nodes ?? [];
  assert.equal(node?.input?.kind, MatchInput_Kind.ENDPOINT_METADATA);
  assert.deepEqual(
    node?.edges?.map(({ outcome }) => outcome?.action),
    [1, 2],
  );
});

test('sockets of one name, other actions and other inputs are refused', () => {
  const raw = { name: 'one', transport_socket: RAW };
  const { issues } = clusterOf(
    byValue(
      {
        name: 'foo',
        typed_config: any('envoy.extensions.matching.common_inputs.network.v3.ServerNameInput'),
      },
      {
        a: {
          action: { name: 'b', typed_config: any('google.protobuf.StringValue', { value: 'one' }) },
        },
      },
    ),
    [raw, raw],
  );
  const texts = issues.join('\n');
  assert.match(texts, /Duplicate transport socket name 'one' found in transport_socket_matches/);
  assert.match(texts, /Didn't find a registered implementation for 'foo' with type URL/);
  assert.match(texts, /Didn't find a registered implementation for 'b' with type URL/);
});
