import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatIssue } from '../../../../src/config/issues/issue.js';
import { loadBootstrap } from '../../../../src/config/load.js';

const load = (inlineYaml: string) => loadBootstrap({ inlineYaml });

const problemsIn = (yaml: string): string[] =>
  load(yaml)
    .issues.filter(({ severity }) => severity === 'error')
    .map((issue) => formatIssue(issue).replace('--config-yaml:', ''));

const FRONT = `static_resources:
  listeners:
  - name: l
    address: {socket_address: {address: 127.0.0.1, port_value: 0}}
    filter_chains:
    - tls_context: {common_tls_context: {alpn_protocols: [h2]}}
      filters:
      - name: envoy.http_connection_manager
        config:
          stat_prefix: in
          idle_timeout: 5s
          route_config:
            virtual_hosts:
            - name: v
              domains: ["*"]
              routes:
              - match: {regex: "/a.*"}
                route: {cluster: c, host_rewrite: there}
          access_log: [{name: envoy.file_access_log, config: {path: /dev/null}}]
          http_filters: [{name: envoy.router}]
  clusters:
  - name: c
    connect_timeout: 1s
    type: strict_dns
    hosts: [{socket_address: {address: one, port_value: 80}}]
    tls_context: {sni: one}
`;

describe('a v2 bootstrap is upgraded', () => {
  test('hosts are the endpoints of a load_assignment, tls_context a transport_socket', () => {
    const cluster = load(FRONT).bootstrap?.static_resources?.clusters?.[0];
    assert.deepEqual(cluster?.load_assignment, {
      cluster_name: 'c',
      endpoints: [
        {
          lb_endpoints: [
            { endpoint: { address: { socket_address: { address: 'one', port_value: 80 } } } },
          ],
        },
      ],
    });
    assert.deepEqual(cluster?.transport_socket, {
      name: 'envoy.transport_sockets.tls',
      typed_config: {
        $type: 'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
        sni: 'one',
      },
    });
  });

  test('config takes its type from the name of the filter, all the way down', () => {
    const chain = load(FRONT).bootstrap?.static_resources?.listeners?.[0]?.filter_chains?.[0];
    const manager = JSON.stringify(chain?.filters?.[0]);
    assert.match(manager, /"name":"envoy.filters.network.http_connection_manager"/);
    assert.match(manager, /"\$type":"envoy[\w.]+v3.HttpConnectionManager"/);
    assert.match(manager, /"safe_regex":\{"regex":"\/a\.\*"\}/);
    assert.match(manager, /"host_rewrite_literal":"there"/);
    assert.match(manager, /"common_http_protocol_options":\{"idle_timeout":5000\}/);
    assert.match(manager, /"\$type":"envoy.extensions.access_loggers.file.v3.FileAccessLog"/);
    assert.match(manager, /"\$type":"envoy.extensions.filters.http.router.v3.Router"/);
    assert.match(JSON.stringify(chain?.transport_socket), /v3.DownstreamTlsContext/);
  });

  test('every rewrite is told with its path', () => {
    const { rewrites } = load(FRONT);
    const told = rewrites.map(({ path, from, to }) => `${path}: ${from} -> ${to}`);
    const cluster = 'static_resources.clusters[0]';
    assert.ok(told.includes(`${cluster}: hosts -> load_assignment.endpoints[0].lb_endpoints`));
    assert.ok(told.includes(`${cluster}: tls_context -> transport_socket`));
  });

  test('types of v2 are those of v3', () => {
    const { bootstrap } = load(`static_resources:
  clusters:
  - name: c
    connect_timeout: 1s
    transport_socket:
      name: tls
      typed_config:
        "@type": type.googleapis.com/envoy.api.v2.auth.UpstreamTlsContext
        sni: one
`);
    assert.deepEqual(bootstrap?.static_resources?.clusters?.[0]?.transport_socket?.typed_config, {
      $type: 'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
      sni: 'one',
    });
  });

  test('the runtime of v2 is layers: base, disk, override, admin', () => {
    const { bootstrap } = load('runtime: {symlink_root: /a, subdirectory: b, base: {x: 1}}');
    assert.deepEqual(bootstrap?.layered_runtime?.layers, [
      { name: 'base', static_layer: { x: 1 } },
      { name: 'root', disk_layer: { symlink_root: '/a', subdirectory: 'b' } },
      { name: 'admin', admin_layer: {} },
    ]);
  });

  test('what is v3 already has no rewrites', () => {
    const { rewrites, bootstrap } = load(
      'node: {id: a}\nstatic_resources: {clusters: [{name: c, connect_timeout: 1s}]}',
    );
    assert.deepEqual(rewrites, []);
    assert.ok(bootstrap);
  });
});

describe('what is wrong in a v2 bootstrap', () => {
  test('is told by its v3 path, at its place in the file', () => {
    const yaml = FRONT.replace('port_value: 80}', 'port_valu: 80}');
    assert.deepEqual(problemsIn(yaml), [
      '25:45: static_resources.clusters[0].load_assignment.endpoints[0].lb_endpoints[0].endpoint' +
        '.address.socket_address.port_valu: unknown field of envoy.config.core.v3.SocketAddress;' +
        ' did you mean "port_value"?',
    ]);
  });

  test('a filter that nobody knows is named', () => {
    const yaml = FRONT.replace('envoy.http_connection_manager', 'envoy.http_conection_manager');
    assert.deepEqual(problemsIn(yaml), [
      '9:9: static_resources.listeners[0].filter_chains[0].filters[0].config: cannot be upgraded:' +
        ' "envoy.http_conection_manager" is not supported, or needs a typed_config',
    ]);
  });

  test('with refusesV2 the words of v2 are unknown fields', () => {
    const { issues } = loadBootstrap({ inlineYaml: FRONT }, { refusesV2: true });
    assert.ok(issues.some(({ path }) => path === 'static_resources.clusters[0].hosts'));
  });
});
