// Envoy Gateway’s bootstrap as it is, and a control plane that sends what its own sends.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ServerCredentials } from '@grpc/grpc-js';
import { address } from './support/bootstraps.js';
import {
  AUTHORITY,
  CLIENT_CERTIFICATE,
  CLIENT_KEY,
  SERVER_CERTIFICATE,
  SERVER_KEY,
} from './support/certificates.js';
import {
  CLUSTER,
  ControlPlane,
  ENDPOINTS,
  LISTENER,
  ROUTES,
  type Message,
} from './support/control-plane.js';
import { makeFolder, startProxy } from './support/start-proxy.js';
import {
  ANY,
  HTTP,
  HCM,
  HTTP_OPTIONS,
  FILE_LOG,
  ADS,
  ROUTER,
  typed,
  startOrigin,
  answers,
  listens,
  assertTaken,
} from './support/meshes.js';
import { until } from './support/waits.js';

test('Envoy Gateway: certificates of files towards the control plane, by incremental ADS', async (t) => {
  const folder = makeFolder(t);
  const port = await startOrigin(t);
  const secret = (file: string, name: string, what: Message): string => {
    const resources = [
      {
        '@type': `${ANY}envoy.extensions.transport_sockets.tls.v3.Secret`,
        ...{ name, ...what },
      },
    ];
    const path = join(folder, file);
    writeFileSync(path, JSON.stringify({ resources }));
    return path;
  };
  for (const [name, text] of [
    ['tls.crt', CLIENT_CERTIFICATE],
    ['tls.key', CLIENT_KEY],
    ['ca.crt', AUTHORITY],
  ] as const) {
    writeFileSync(join(folder, name), text);
  }
  const own = secret('xds-certificate.json', 'xds_certificate', {
    tls_certificate: {
      certificate_chain: { filename: join(folder, 'tls.crt') },
      private_key: { filename: join(folder, 'tls.key') },
    },
  });
  const trusted = secret('xds-trusted-ca.json', 'xds_trusted_ca', {
    validation_context: {
      trusted_ca: { filename: join(folder, 'ca.crt') },
      match_typed_subject_alt_names: [{ san_type: 'DNS', matcher: { exact: 'server.test' } }],
    },
  });
  const plane = await ControlPlane.start(t, {
    credentials: ServerCredentials.createSsl(
      Buffer.from(AUTHORITY),
      [{ private_key: Buffer.from(SERVER_KEY), cert_chain: Buffer.from(SERVER_CERTIFICATE) }],
      true,
    ),
  });
  const name = 'httproute/shop/web/rule/0';
  plane.set(CLUSTER, '1', [
    {
      name,
      type: 'EDS',
      eds_cluster_config: { eds_config: ADS, service_name: name },
      connect_timeout: { seconds: 10 },
      per_connection_buffer_limit_bytes: { value: 32768 },
      circuit_breakers: { thresholds: [{ max_retries: { value: 1024 } }] },
      common_lb_config: { locality_weighted_lb_config: {} },
      dns_lookup_family: 'V4_PREFERRED',
      lb_policy: 'LEAST_REQUEST',
    },
  ]);
  plane.set(ENDPOINTS, '1', [
    {
      cluster_name: name,
      endpoints: [
        {
          locality: { region: `${name}/backend/0` },
          load_balancing_weight: { value: 1 },
          lb_endpoints: [
            {
              endpoint: { address: address(port) },
              load_balancing_weight: { value: 1 },
            },
          ],
        },
      ],
    },
  ]);
  plane.set(ROUTES, '1', [
    {
      name: 'shop/eg/http',
      ignore_port_in_host_matching: true,
      virtual_hosts: [
        {
          name: 'shop/eg/http/www_example_test',
          domains: ['www.example.test'],
          routes: [
            {
              name: `${name}/match/0/www_example_test`,
              match: { path_separated_prefix: '/hello' },
              route: { cluster: name, upgrade_configs: [{ upgrade_type: 'websocket' }] },
            },
          ],
        },
      ],
    },
  ]);
  const manager = typed('envoy.filters.network.http_connection_manager', HCM, {
    stat_prefix: 'http-10080',
    common_http_protocol_options: { headers_with_underscores_action: 'REJECT_REQUEST' },
    http2_protocol_options: {
      initial_connection_window_size: { value: 1048576 },
      initial_stream_window_size: { value: 65536 },
      max_concurrent_streams: { value: 100 },
    },
    merge_slashes: true,
    normalize_path: { value: true },
    path_with_escaped_slashes_action: 'UNESCAPE_AND_REDIRECT',
    rds: { config_source: ADS, route_config_name: 'shop/eg/http' },
    server_header_transformation: 'PASS_THROUGH',
    use_remote_address: { value: true },
    http_filters: [{ ...ROUTER }],
  });
  plane.set(LISTENER, '1', [
    {
      name: 'shop/eg/http',
      address: address(0),
      per_connection_buffer_limit_bytes: { value: 32768 },
      default_filter_chain: { name: 'shop/eg/http', filters: [manager] },
    },
  ]);
  const sds = (name: string, path: string): Message => ({
    name,
    sds_config: { path_config_source: { path }, resource_api_version: 'V3' },
  });
  const proxy = await startProxy(t, {
    admin: {
      access_log: [typed('envoy.access_loggers.file', FILE_LOG, { path: '/dev/null' })],
      address: address(0),
    },
    node: { id: 'envoy-shop-eg-0', cluster: 'shop/eg' },
    layered_runtime: {
      layers: [
        {
          name: 'global_config',
          static_layer: {
            'envoy.restart_features.use_eds_cache_for_ads': true,
            're2.max_program_size.error_level': 4294967295,
            're2.max_program_size.warn_level': 1000,
          },
        },
      ],
    },
    dynamic_resources: {
      ads_config: {
        api_type: 'DELTA_GRPC',
        transport_api_version: 'V3',
        grpc_services: [{ envoy_grpc: { cluster_name: 'xds_cluster' } }],
        set_node_on_first_message_only: true,
      },
      lds_config: ADS,
      cds_config: ADS,
    },
    static_resources: {
      listeners: [
        {
          name: 'envoy-gateway-proxy-ready',
          address: address(0),
          filter_chains: [
            {
              filters: [
                typed('envoy.filters.network.http_connection_manager', HCM, {
                  stat_prefix: 'eg-ready-http',
                  route_config: { name: 'local_route' },
                  http_filters: [
                    typed(
                      'envoy.filters.http.health_check',
                      `${HTTP}.health_check.v3.HealthCheck`,
                      {
                        pass_through_mode: false,
                        headers: [{ name: ':path', string_match: { exact: '/hello' } }],
                      },
                    ),
                    ROUTER,
                  ],
                }),
              ],
            },
          ],
        },
      ],
      clusters: [
        {
          name: 'xds_cluster',
          type: 'STRICT_DNS',
          connect_timeout: '10s',
          load_assignment: {
            cluster_name: 'xds_cluster',
            endpoints: [
              {
                load_balancing_weight: 1,
                lb_endpoints: [
                  { load_balancing_weight: 1, endpoint: { address: address(plane.port) } },
                ],
              },
            ],
          },
          typed_extension_protocol_options: {
            [HTTP_OPTIONS]: {
              '@type': ANY + HTTP_OPTIONS,
              explicit_http_config: {
                http2_protocol_options: {
                  connection_keepalive: { interval: '30s', timeout: '5s' },
                },
              },
            },
          },
          transport_socket: typed(
            'envoy.transport_sockets.tls',
            `${ANY}envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext`,
            {
              common_tls_context: {
                tls_params: { tls_maximum_protocol_version: 'TLSv1_3' },
                tls_certificate_sds_secret_configs: [sds('xds_certificate', own)],
                validation_context_sds_secret_config: sds('xds_trusted_ca', trusted),
              },
            },
          ),
        },
      ],
    },
  });
  await until(() => listens(proxy, 'shop/eg/http'));
  assert.equal(await answers(proxy, 'shop/eg/http', 'www.example.test:10080'), '200 origin /hello');
  assert.equal(await answers(proxy, 'envoy-gateway-proxy-ready', 'any'), '200 ');
  assertTaken(plane);
});
