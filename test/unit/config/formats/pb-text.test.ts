import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { formatIssue } from '../../../../src/config/issues/issue.js';
import { loadBootstrap, type LoadOptions } from '../../../../src/config/load.js';
import { folderOf } from '../../support/folder.js';

function load(t: TestContext, text: string, options: LoadOptions = {}) {
  const folder = folderOf(t);
  const path = join(folder, 'boot.pb_text');
  writeFileSync(path, text);
  const { bootstrap, issues, rewrites } = loadBootstrap({ path }, options);
  const problems = issues
    .filter(({ severity }) => severity === 'error')
    .map((issue) => formatIssue(issue).replace(`${path}:`, ''));
  return { bootstrap, problems, rewrites };
}

describe('the text format', () => {
  test('comments, both brackets, an optional colon, commas and semicolons', (t) => {
    const { bootstrap } = load(
      t,
      '# one\nnode: < id: "a", cluster: "b"; > # two\nadmin { address { pipe { path: "/a" } } }',
    );
    assert.deepEqual(bootstrap, {
      node: { id: 'a', cluster: 'b' },
      admin: { address: { pipe: { path: '/a' } } },
    });
  });

  test('strings that follow each other are one, with every escape', (t) => {
    const { bootstrap } = load(t, `node { id: "a\\x41" 'b' "\\101\\u00e9\\n\\"" "\\303\\251" }`);
    assert.equal(bootstrap?.node?.id, 'aAbAé\n"é');
  });

  test('a repeated field is one list, in brackets or not', (t) => {
    const clusters = `static_resources {
      clusters [{ name: "a" connect_timeout { seconds: 1 } }, < name: "b" >]
      clusters { name: "c" type: 1 lb_policy: RING_HASH }
    }`;
    assert.deepEqual(load(t, clusters).bootstrap?.static_resources?.clusters, [
      { name: 'a', connect_timeout: 1000 },
      { name: 'b' },
      { name: 'c', type: 'STRICT_DNS', lb_policy: 'RING_HASH' },
    ]);
  });

  test('durations, wrappers, Structs and maps are the messages they are', (t) => {
    const { bootstrap } = load(
      t,
      `node { metadata {
         fields { key: "n" value { number_value: -2.5e1f } }
         fields { key: "l" value { list_value { values { null_value: NULL_VALUE } values { bool_value: true } } } }
       } }
       stats_flush_interval { seconds: 1 nanos: 500000000 }
       static_resources { clusters { name: "a" per_connection_buffer_limit_bytes { value: 0x10 } } }`,
    );
    assert.deepEqual(bootstrap?.node?.metadata, { n: -25, l: [null, true] });
    assert.equal(bootstrap?.stats_flush_interval, 1500);
    const [cluster] = bootstrap?.static_resources?.clusters ?? [];
    assert.equal(cluster?.per_connection_buffer_limit_bytes, 16);
  });

  test('an Any is expanded, or holds bytes', (t) => {
    const options = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
    const { bootstrap } = load(
      t,
      `static_resources { clusters { name: "a"
         transport_socket { name: "x" typed_config {
           [type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext] { sni: "s" } } }
         typed_extension_protocol_options { key: "o" value {
           type_url: "type.googleapis.com/${options}" value: "\\032\\002\\n\\000" } } } }`,
    );
    const [cluster] = bootstrap?.static_resources?.clusters ?? [];
    assert.deepEqual(cluster?.transport_socket?.typed_config, {
      $type: 'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
      sni: 's',
    });
    assert.deepEqual(cluster?.typed_extension_protocol_options, {
      o: { $type: options, explicit_http_config: { http_protocol_options: {} } },
    });
  });

  test('everything of the wrong type is told, each at its place', (t) => {
    const { problems } = load(
      t,
      'node {\n  id: 3\n  idd: "x"\n  cluster: "a" cluster: "b"\n}\nadmin { ignore_global_conn_limit: 7 }\nheader_prefix: { }',
    );
    assert.deepEqual(problems, [
      '2:7: node.id: found 3; expected a string in quotes',
      '3:3: node.idd: unknown field of envoy.config.core.v3.Node; did you mean "id"?',
      '4:16: node.cluster: is set twice; expected one value',
      '6:35: admin.ignore_global_conn_limit: found 7; expected true or false',
      '7:16: header_prefix: found a message; expected a string in quotes',
    ]);
  });

  test('a name is spelt as in the .proto file', (t) => {
    assert.deepEqual(load(t, 'staticResources {}').problems, [
      '1:1: staticResources: unknown field of envoy.config.bootstrap.v3.Bootstrap; did you mean "static_resources"?',
    ]);
  });

  test('unknown fields are refused, whatever the command line allows', (t) => {
    const { problems } = load(t, 'nod {}', { unknownFields: 'warning' });
    assert.equal(problems.length, 1);
  });

  for (const [what, text, problem] of [
    ['a message that is not closed', 'node { id: "a"', '1:15: the text ends early, expected "}"'],
    ['a string that is not closed', 'node { id: "a\n" }', '1:14: a string is not closed'],
    ['an unknown escape', 'node { id: "\\q" }', '1:13: unknown escape \\q'],
    ['a value that is missing', 'node { id: }', '1:12: found "}", expected a value'],
  ] as const) {
    test(`${what} is refused at its place`, (t) => {
      const [place = '', ...rest] = problem.split(/(?<=^\d+:\d+): /);
      assert.deepEqual(load(t, text).problems, [`${place}: is no text protobuf: ${rest.join('')}`]);
    });
  }

  test('v2 in text form is upgraded: hosts, tls_context, config Structs', (t) => {
    const { bootstrap, rewrites } = load(
      t,
      `static_resources { clusters { name: "c" connect_timeout { seconds: 1 }
         hosts { socket_address { address: "a" port_value: 1 } } tls_context { sni: "s" } } }
       stats_sinks { name: "envoy.statsd" config { fields { key: "tcp_cluster_name" value { string_value: "c" } } } }`,
    );
    assert.ok(rewrites.length >= 3);
    const [cluster] = bootstrap?.static_resources?.clusters ?? [];
    assert.equal(cluster?.load_assignment?.endpoints?.[0]?.lb_endpoints?.length, 1);
    assert.deepEqual(bootstrap?.stats_sinks?.[0]?.typed_config, {
      $type: 'envoy.config.metrics.v3.StatsdSink',
      tcp_cluster_name: 'c',
    });
  });
});
