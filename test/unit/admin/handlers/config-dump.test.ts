import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadBootstrap } from '../../../../src/config/load.js';
import { AskedServer } from '../fake-host.js';

const BOOTSTRAP = `
node: {id: here}
static_resources:
  secrets:
  - {name: word, generic_secret: {secret: {inline_string: hush}}}
  - name: cert
    tls_certificate: {private_key: {filename: /key.pem}, password: {inline_bytes: aHVzaA==}}
  clusters:
  - name: two
    connect_timeout: 0.25s
    load_assignment:
      cluster_name: two
      endpoints:
      - lb_endpoints:
        - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 1}}}
  - {name: one}
  listeners:
  - name: in
    address: {socket_address: {address: 127.0.0.1, port_value: 0}}
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          route_config: {name: routes}
`;

function serverOf(yaml: string): AskedServer {
  const asked = new AskedServer();
  const { bootstrap, issues } = loadBootstrap({ inlineYaml: yaml });
  assert.ok(bootstrap, JSON.stringify(issues));
  asked.host.bootstrap = bootstrap;
  return asked;
}

interface Dump {
  readonly configs?: readonly Record<string, unknown>[];
}

const dumpOf = (text: string): Dump => JSON.parse(text) as Dump;
const kindOf = (config: Record<string, unknown>): string =>
  String(config['@type']).replace('type.googleapis.com/envoy.admin.v3.', '');
const CLUSTER = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';

test('the whole dump has the kinds in the real server’s order', () => {
  const { text, type } = serverOf(BOOTSTRAP).get('/config_dump');
  assert.equal(type, 'json');
  assert.deepEqual(dumpOf(text).configs?.map(kindOf), [
    'BootstrapConfigDump',
    'ClustersConfigDump',
    'ListenersConfigDump',
    'ScopedRoutesConfigDump',
    'RoutesConfigDump',
    'SecretsConfigDump',
  ]);
});

test('without connection managers there are no routes, without clusters no endpoints', () => {
  const asked = serverOf('node: {id: here}');
  const { text } = asked.get('/config_dump?include_eds');
  assert.deepEqual(dumpOf(text).configs?.map(kindOf), [
    'BootstrapConfigDump',
    'ClustersConfigDump',
    'ListenersConfigDump',
    'SecretsConfigDump',
  ]);
  assert.equal(asked.get('/config_dump?resource=static_route_configs').status, 404);
});

test('an element of a list says its type, its content and when it came', () => {
  const { text } = serverOf(BOOTSTRAP).get('/config_dump?resource=static_route_configs');
  assert.deepEqual(dumpOf(text).configs, [
    {
      '@type': 'type.googleapis.com/envoy.admin.v3.RoutesConfigDump.StaticRouteConfig',
      route_config: {
        '@type': 'type.googleapis.com/envoy.config.route.v3.RouteConfiguration',
        name: 'routes',
      },
      last_updated: '2026-11-21T07:30:00.025Z',
    },
  ]);
});

test('clusters are sorted, and a mask reaches into what an element holds', () => {
  const { text } = serverOf(BOOTSTRAP).get(
    '/config_dump?resource=static_clusters&mask=cluster.name',
  );
  const clusters = dumpOf(text).configs?.map((config) => config['cluster']);
  assert.deepEqual(clusters, [
    { '@type': CLUSTER, name: 'one' },
    { '@type': CLUSTER, name: 'two' },
  ]);
});

test('name_regex must match whole names and leaves the bootstrap alone', () => {
  const asked = serverOf(BOOTSTRAP);
  assert.equal(asked.get('/config_dump?resource=static_clusters&name_regex=tw').text, '{}\n');
  const { configs } = dumpOf(asked.get('/config_dump?name_regex=tw.').text);
  assert.equal((configs?.[1]?.['static_clusters'] as unknown[] | undefined)?.length, 1);
  assert.ok(configs?.[0]?.['bootstrap']);
});

test('what the bootstrap says of its program goes before what the program says', () => {
  const version = 'user_agent_build_version: {version: {major_number: 7}}';
  const asked = serverOf(`node: {user_agent_name: me, ${version}, extensions: [{name: mine}]}`);
  const [dump] = dumpOf(asked.get('/config_dump').text).configs ?? [];
  const { node } = (dump?.['bootstrap'] ?? {}) as { readonly node?: Record<string, unknown> };
  assert.ok(node);
  assert.equal(node['user_agent_name'], 'me');
  assert.deepEqual(node['user_agent_build_version'], { version: { major_number: 7 } });
  assert.deepEqual((node['extensions'] as unknown[])[0], { name: 'mine' });
});

test('name_regex may be as large as patterns of the configuration', () => {
  const asked = serverOf(BOOTSTRAP);
  const path = `/config_dump?name_regex=tw.|${'a'.repeat(200)}`;
  const refused = asked.get(path);
  assert.equal(refused.status, 400);
  assert.match(refused.text, /RE2 program size of \d+ > max program size of 100 set for the error/);
  const layer = { name: 'a', static_layer: { 're2.max_program_size.error_level': 1000 } };
  asked.host.runtime = asked.host.makeRuntime({ layered_runtime: { layers: [layer] } });
  assert.equal(asked.get(path).status, 200);
});

test('secrets are hidden wherever they are, certificates are not', () => {
  const { text } = serverOf(BOOTSTRAP).get('/config_dump');
  assert.ok(!text.includes('hush') && !text.includes('key.pem') && !text.includes('aHVzaA'));
  const { configs } = dumpOf(text);
  const secrets = configs?.at(-1)?.['static_secrets'] as { secret: Record<string, unknown> }[];
  assert.deepEqual(secrets[0]?.secret['tls_certificate'], {
    private_key: { filename: '[redacted]' },
    password: { inline_bytes: Buffer.from('[redacted]').toString('base64') },
  });
  assert.deepEqual(secrets[1]?.secret['generic_secret'], {
    secret: { inline_string: '[redacted]' },
  });
});

test('a mask of the whole dump shows the kinds that have all of its fields', () => {
  const { text } = serverOf(BOOTSTRAP).get('/config_dump?mask=bootstrap.node.id');
  assert.deepEqual(dumpOf(text).configs, [
    {
      '@type': 'type.googleapis.com/envoy.admin.v3.BootstrapConfigDump',
      bootstrap: { node: { id: 'here' } },
    },
  ]);
});

test('what cannot be asked for is refused in the real server’s words', () => {
  const asked = serverOf(BOOTSTRAP);
  const answers = (
    [
      ['resource=bogus', 404, 'bogus not found in config dump'],
      [
        'resource=dynamic_endpoint_configs',
        404,
        'dynamic_endpoint_configs not found in config dump',
      ],
      [
        'resource=bootstrap',
        400,
        'bootstrap is not a repeated field. Use ?mask=bootstrap to get only this field',
      ],
      ['mask=bogus', 400, 'FieldMask bogus could not be successfully applied to any configs.'],
      [
        'mask=static_clusters.cluster',
        400,
        'FieldMask static_clusters.cluster could not be successfully applied to any configs.',
      ],
      [
        'name_regex=[',
        400,
        'INVALID_ARGUMENT: Error while parsing name_regex from [: missing ]: [',
      ],
    ] as const
  ).map(([query, status, why]) => ({ query, expected: { status, type: 'plain', text: why } }));
  for (const { query, expected } of answers) {
    assert.deepEqual(asked.get(`/config_dump?${query}`), expected);
  }
  const unfit = asked.get('/config_dump?resource=static_clusters&mask=cluster.bogus');
  assert.equal(unfit.status, 400);
  assert.match(unfit.text, /paths: "cluster.bogus"\n could not be successfully used\.$/);
});

test('a list without elements is an empty object', () => {
  const { text } = serverOf(BOOTSTRAP).get('/config_dump?resource=dynamic_active_clusters');
  assert.equal(text, '{}\n');
});

test('include_eds adds the hosts that clusters have now', () => {
  const asked = serverOf(BOOTSTRAP);
  const address = { socket_address: { address: '127.0.0.1', port_value: 1 } };
  const host = { address, health_status: { failed_active_health_check: true }, weight: 1 };
  asked.host.native.statuses['two'] = JSON.stringify({ name: 'two', host_statuses: [host] });
  const { text } = asked.get(
    '/config_dump?include_eds&resource=static_endpoint_configs&name_regex=two',
  );
  const [config] = dumpOf(text).configs ?? [];
  assert.deepEqual(config?.['endpoint_config'], {
    '@type': 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
    cluster_name: 'two',
    endpoints: [
      {
        locality: {},
        lb_endpoints: [
          {
            endpoint: { address, health_check_config: {} },
            health_status: 'UNHEALTHY',
            load_balancing_weight: 1,
          },
        ],
        load_balancing_weight: 0,
      },
    ],
    policy: { overprovisioning_factor: 140 },
  });
});

test('hosts that DNS found have metadata, others what they were configured with', () => {
  const address = { socket_address: { address: '127.0.0.1', port_value: 1 } };
  const hasMetadata = (kind: object): boolean => {
    const load_assignment = { cluster_name: 'dns', endpoints: [] };
    const cluster = { name: 'dns', ...kind, connect_timeout: '1s', load_assignment };
    const asked = serverOf(JSON.stringify({ static_resources: { clusters: [cluster] } }));
    asked.host.native.statuses['dns'] = JSON.stringify({
      name: 'dns',
      host_statuses: [{ address, weight: 1 }],
    });
    const { text } = asked.get('/config_dump?include_eds&resource=static_endpoint_configs');
    return text.includes('"metadata": {}');
  };
  assert.equal(hasMetadata({ type: 'STRICT_DNS' }), true);
  assert.equal(hasMetadata({ type: 'LOGICAL_DNS' }), true);
  assert.equal(hasMetadata({ type: 'STATIC' }), false);
  const kind = (name: string, type?: string) => ({
    cluster_type: {
      name,
      ...(type && { typed_config: { '@type': `type.googleapis.com/${type}` } }),
    },
  });
  assert.equal(hasMetadata(kind('any', 'envoy.extensions.clusters.dns.v3.DnsCluster')), true);
  assert.equal(hasMetadata(kind('envoy.cluster.strict_dns')), true);
  assert.equal(hasMetadata(kind('envoy.cluster.static')), false);
});

test('a host that its configuration takes out of use is unhealthy, a degraded one is not', () => {
  const asked = serverOf(BOOTSTRAP);
  const told = ['UNKNOWN', 'HEALTHY', 'DEGRADED', 'UNHEALTHY', 'DRAINING', 'TIMEOUT'];
  const hosts = told.map((eds_health_status, index) => ({
    address: { socket_address: { address: '127.0.0.1', port_value: index } },
    health_status: { eds_health_status },
  }));
  asked.host.native.statuses['two'] = JSON.stringify({ name: 'two', host_statuses: hosts });
  const { text } = asked.get(
    '/config_dump?include_eds&resource=static_endpoint_configs&name_regex=two',
  );
  assert.deepEqual(
    [...text.matchAll(/"health_status": "(\w+)"/g)].map(([, status]) => status),
    ['HEALTHY', 'HEALTHY', 'DEGRADED', 'UNHEALTHY', 'UNHEALTHY', 'UNHEALTHY'],
  );
});

test('the bootstrap’s node lists the extensions of this build', () => {
  const { text } = serverOf(BOOTSTRAP).get('/config_dump?mask=bootstrap.node.extensions');
  assert.match(text, /"name": "envoy.filters.http.router"/);
});

const WELL_KNOWN = `
node: {metadata: {a: [1]}}
stats_flush_interval: 7.25s
static_resources:
  clusters:
  - name: one
    connect_timeout: 2.5s
    per_connection_buffer_limit_bytes: 9
    transport_socket:
      name: raw
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer
`;

test('a mask names the fields of well-known types', () => {
  const asked = serverOf(WELL_KNOWN);
  const shown = (path: string): unknown =>
    dumpOf(asked.get(`/config_dump?mask=bootstrap.${path}`).text).configs?.[0]?.['bootstrap'];
  assert.deepEqual(shown('stats_flush_interval.seconds'), { stats_flush_interval: '7s' });
  assert.deepEqual(shown('stats_flush_interval.nanos'), { stats_flush_interval: '0.250s' });
  assert.deepEqual(shown('node.metadata.fields'), { node: { metadata: { a: [1] } } });
  const times = ['seconds', 'nanos', 'seconds,last_updated.nanos'].map((fields) => {
    const { text } = asked.get(`/config_dump?mask=last_updated.${fields}`);
    return dumpOf(text).configs?.[0]?.['last_updated'];
  });
  assert.deepEqual(times, [
    '2026-11-21T07:30:00Z',
    '1970-01-01T00:00:00.025Z',
    '2026-11-21T07:30:00.025Z',
  ]);
});

test('a mask of an element reaches into the well-known types it holds', () => {
  const asked = serverOf(WELL_KNOWN);
  const shown = (path: string): unknown =>
    dumpOf(asked.get(`/config_dump?resource=static_clusters&mask=${path}`).text).configs?.[0];
  const of = (fields: object): object => ({
    '@type': 'type.googleapis.com/envoy.admin.v3.ClustersConfigDump.StaticCluster',
    cluster: { '@type': CLUSTER, ...fields },
  });
  assert.deepEqual(shown('cluster.connect_timeout.seconds'), of({ connect_timeout: '2s' }));
  assert.deepEqual(
    shown('cluster.per_connection_buffer_limit_bytes.value'),
    of({ per_connection_buffer_limit_bytes: 9 }),
  );
  const typed = (rest: object): object => of({ transport_socket: { typed_config: rest } });
  assert.deepEqual(
    shown('cluster.transport_socket.typed_config.type_url'),
    typed({
      '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer',
    }),
  );
  assert.deepEqual(shown('cluster.transport_socket.typed_config.value'), typed({}));
});

test('a mask into a field that no well-known type has is refused', () => {
  const asked = serverOf(WELL_KNOWN);
  for (const path of [
    'bootstrap.stats_flush_interval.millis',
    'bootstrap.stats_flush_interval.seconds.low',
    'bootstrap.node.id.value',
    'bootstrap.node.metadata.fields.a',
  ]) {
    assert.equal(asked.get(`/config_dump?mask=${path}`).status, 400, path);
  }
});
