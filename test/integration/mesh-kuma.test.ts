// Kuma’s bootstrap as it is, and a control plane that sends what its own sends.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ServerCredentials } from '@grpc/grpc-js';
import { HTTP2, address } from './support/bootstraps.js';
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from './support/certificates.js';
import {
  CLUSTER,
  ControlPlane,
  ENDPOINTS,
  LISTENER,
  type Message,
} from './support/control-plane.js';
import { makeFolder, startProxy } from './support/start-proxy.js';
import {
  ANY,
  NETWORK,
  HCM,
  ADS,
  PATIENT_ADS,
  ROUTER,
  typed,
  hostsOf,
  startOrigin,
  answers,
  assertTaken,
} from './support/meshes.js';

test('Kuma: a token of a file, by the gRPC library over TLS', async (t) => {
  const folder = makeFolder(t);
  const token = join(folder, 'token');
  writeFileSync(token, 'secret-of-the-dataplane');
  const port = await startOrigin(t);
  const plane = await ControlPlane.start(t, {
    credentials: ServerCredentials.createSsl(null, [
      { private_key: Buffer.from(SERVER_KEY), cert_chain: Buffer.from(SERVER_CERTIFICATE) },
    ]),
  });
  plane.set(CLUSTER, '1', [
    {
      name: 'backend',
      alt_stat_name: 'backend',
      type: 'EDS',
      eds_cluster_config: { eds_config: ADS },
      connect_timeout: { seconds: 5 },
    },
    {
      name: 'localhost:8080',
      alt_stat_name: 'localhost_8080',
      type: 'STATIC',
      connect_timeout: { seconds: 10 },
      load_assignment: hostsOf('localhost:8080', address(port)),
      upstream_bind_config: { source_address: { address: '127.0.0.1', port_value: 0 } },
    },
  ]);
  plane.set(ENDPOINTS, '1', [hostsOf('backend', address(port))]);
  const tags = 'envoy.lb';
  const manager = (stat_prefix: string, cluster: string): Message =>
    typed('envoy.filters.network.http_connection_manager', HCM, {
      stat_prefix,
      http_filters: [ROUTER],
      route_config: {
        name: `outbound:${stat_prefix}`,
        validate_clusters: { value: false },
        request_headers_to_add: [
          { header: { key: 'x-kuma-tags', value: '&kuma.io/service=web&' }, append_action: 1 },
        ],
        virtual_hosts: [
          {
            name: stat_prefix,
            domains: ['*'],
            routes: [
              {
                match: { prefix: '/' },
                route: { cluster, timeout: { seconds: 0 } },
              },
            ],
          },
        ],
      },
    });
  plane.set(LISTENER, '1', [
    {
      name: 'outbound:127.0.0.1:10001',
      address: address(0),
      traffic_direction: 'OUTBOUND',
      metadata: {
        filter_metadata: { [tags]: { fields: { 'kuma.io/service': { string_value: 'backend' } } } },
      },
      filter_chains: [{ filters: [manager('backend', 'backend')] }],
    },
    {
      name: 'inbound:127.0.0.1:8080',
      address: address(0),
      traffic_direction: 'INBOUND',
      enable_reuse_port: { value: false },
      filter_chains: [
        {
          filters: [
            typed('envoy.filters.network.rbac', `${NETWORK}.rbac.v3.RBAC`, {
              stat_prefix: 'inbound_127_0_0_1_8080.',
              rules: {
                policies: {
                  all: { permissions: [{ any: true }], principals: [{ any: true }] },
                },
              },
            }),
            manager('localhost_8080', 'localhost:8080'),
          ],
        },
      ],
    },
  ]);
  const args = {
    'grpc.http2.max_pings_without_data': { int_value: '0' },
    'grpc.keepalive_time_ms': { int_value: '10000' },
    'grpc.keepalive_timeout_ms': { int_value: '30000' },
    'grpc.max_receive_message_length': { int_value: '4194304' },
    // Theirs is called as its certificate says.
    'grpc.ssl_target_name_override': { string_value: 'server.test' },
  };
  const factory = 'envoy.grpc_credentials.file_based_metadata';
  const proxy = await startProxy(t, {
    admin: { address: address(0) },
    node: {
      id: 'default.web-1',
      cluster: 'web',
      metadata: { 'dataplane.proxyType': 'dataplane', version: { kumaDp: { version: '2.9.0' } } },
    },
    default_regex_engine: typed(
      'envoy.regex_engines.google_re2',
      `${ANY}envoy.extensions.regex_engines.v3.GoogleRE2`,
    ),
    stats_config: { stats_tags: [{ tag_name: 'name', regex: '^grpc\\.((.+)\\.)' }] },
    dynamic_resources: {
      lds_config: PATIENT_ADS,
      cds_config: PATIENT_ADS,
      ads_config: {
        api_type: 'DELTA_GRPC',
        transport_api_version: 'V3',
        set_node_on_first_message_only: true,
        grpc_services: [
          {
            google_grpc: {
              target_uri: `127.0.0.1:${plane.port}`,
              stat_prefix: 'ads',
              credentials_factory_name: factory,
              call_credentials: [
                {
                  from_plugin: typed(
                    factory,
                    `${ANY}envoy.config.grpc_credential.v3.FileBasedMetadataConfig`,
                    { secret_data: { filename: token } },
                  ),
                },
              ],
              channel_credentials: {
                ssl_credentials: { root_certs: { inline_string: AUTHORITY } },
              },
              channel_args: { args },
            },
          },
        ],
      },
    },
    static_resources: {
      clusters: [
        {
          name: 'system_access_log_sink',
          type: 'STATIC',
          connect_timeout: '1s',
          load_assignment: hostsOf('system_access_log_sink', {
            pipe: { path: join(folder, 'logs.sock') },
          }),
          ...HTTP2,
        },
      ],
    },
  });
  assert.equal(await answers(proxy, 'outbound:127.0.0.1:10001', 'backend'), '200 origin /hello');
  assert.equal(await answers(proxy, 'inbound:127.0.0.1:8080', 'web'), '200 origin /hello');
  assert.deepEqual(plane.tokens, ['secret-of-the-dataplane']);
  assertTaken(plane);
});
