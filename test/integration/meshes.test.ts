// Control planes that people use, each by a small one of ours: a bootstrap as theirs are, and resources of
// the kinds and shapes that theirs send. What they send is taken, and requests pass.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
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
import { makeFolder, startProxy, type StartedProxy } from './support/start-proxy.js';

const ANY = 'type.googleapis.com/';
const NETWORK = `${ANY}envoy.extensions.filters.network`;
const HTTP = `${ANY}envoy.extensions.filters.http`;
const LISTENER_FILTERS = `${ANY}envoy.extensions.filters.listener`;
const HCM = `${NETWORK}.http_connection_manager.v3.HttpConnectionManager`;
const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const FILE_LOG = `${ANY}envoy.extensions.access_loggers.file.v3.FileAccessLog`;
const ADS = { ads: {}, resource_api_version: 'V3' };
const PATIENT_ADS = { ...ADS, initial_fetch_timeout: '0s' };
/** The same, as it is sent. */
const SENT_ADS = { ...ADS, initial_fetch_timeout: { seconds: 0 } };
const ROUTER = {
  name: 'envoy.filters.http.router',
  typed_config: { '@type': `${HTTP}.router.v3.Router` },
};
const HTTP2 = {
  typed_extension_protocol_options: {
    [HTTP_OPTIONS]: {
      '@type': ANY + HTTP_OPTIONS,
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

const typed = (name: string, type: string, fields: Message = {}): Message => ({
  name,
  typed_config: { '@type': type, ...fields },
});

const hostsOf = (cluster_name: string, where: Message): Message => ({
  cluster_name,
  endpoints: [{ lb_endpoints: [{ endpoint: { address: where } }] }],
});

async function startOrigin(t: TestContext): Promise<number> {
  const origin = createServer((request, response) => response.end(`origin ${request.url}`));
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => origin.close());
  t.after(() => origin.closeAllConnections());
  return (origin.address() as AddressInfo).port;
}

async function answers(proxy: StartedProxy, listener: string, host: string): Promise<string> {
  const url = new URL(await proxy.listenerUrl(listener));
  const { request } = await import('node:http');
  const sent = request({ port: url.port, path: '/hello', headers: { host } });
  sent.end();
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  let text = '';
  for await (const piece of response) text += String(piece);
  return `${response.statusCode} ${text}`;
}

async function until(isThere: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500 && !(await isThere()); tries++) await sleep(10);
}

const listens = async ({ adminUrl }: StartedProxy, name: string): Promise<boolean> =>
  (await (await fetch(`${adminUrl}/listeners`)).text()).includes(`${name}::`);

/** All was taken, and the node was told once. */
function assertTaken(plane: ControlPlane): void {
  assert.deepEqual(
    plane.refusals.map(({ error_detail: error }) => error?.message),
    [],
  );
  assert.equal(plane.requests.filter(({ node }) => node).length, 1);
}

test('Istio: a gateway and a sidecar that its agent serves over a pipe', async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, 'XDS');
  const port = await startOrigin(t);
  const plane = await ControlPlane.start(t, { path });
  const service = 'outbound|80||web.shop.svc.cluster.local';
  plane.set(CLUSTER, '1', [
    {
      name: service,
      type: 'EDS',
      eds_cluster_config: { eds_config: SENT_ADS, service_name: service },
      connect_timeout: { seconds: 10 },
      lb_policy: 'LEAST_REQUEST',
      circuit_breakers: { thresholds: [{ max_connections: { value: 4294967295 } }] },
      common_lb_config: { locality_weighted_lb_config: {} },
      metadata: {
        filter_metadata: {
          istio: { fields: { default_original_port: { number_value: 80 } } },
        },
      },
    },
    {
      name: 'PassthroughCluster',
      type: 'ORIGINAL_DST',
      lb_policy: 'CLUSTER_PROVIDED',
      connect_timeout: { seconds: 10 },
    },
    { name: 'BlackHoleCluster', type: 'STATIC', connect_timeout: { seconds: 10 } },
    {
      name: 'InboundPassthroughCluster',
      type: 'ORIGINAL_DST',
      lb_policy: 'CLUSTER_PROVIDED',
      connect_timeout: { seconds: 10 },
      upstream_bind_config: { source_address: { address: '127.0.0.6', port_value: 0 } },
    },
  ]);
  plane.set(ENDPOINTS, '1', [
    {
      cluster_name: service,
      endpoints: [
        {
          locality: { region: 'here', zone: 'a' },
          load_balancing_weight: { value: 1 },
          lb_endpoints: [
            {
              endpoint: { address: address(port) },
              health_status: 'HEALTHY',
              load_balancing_weight: { value: 1 },
              metadata: {
                filter_metadata: { istio: { fields: { workload: { string_value: 'web;shop' } } } },
              },
            },
          ],
        },
      ],
    },
  ]);
  plane.set(ROUTES, '1', [
    {
      name: 'http.8080',
      validate_clusters: { value: false },
      virtual_hosts: [
        {
          name: 'web.example.test:8080',
          domains: ['web.example.test'],
          include_request_attempt_count: true,
          routes: [
            {
              name: 'default',
              match: { prefix: '/' },
              route: {
                cluster: service,
                timeout: { seconds: 0 },
                retry_policy: {
                  retry_on: 'connect-failure,refused-stream,unavailable,cancelled',
                  num_retries: { value: 2 },
                  retry_host_predicate: [
                    typed(
                      'envoy.retry_host_predicates.previous_hosts',
                      `${ANY}envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate`,
                    ),
                  ],
                  host_selection_retry_max_attempts: 5,
                },
                max_grpc_timeout: { seconds: 0 },
              },
              decorator: { operation: 'web.shop.svc.cluster.local:80/*' },
            },
          ],
        },
      ],
    },
  ]);
  const manager = (stat_prefix: string, routes: Message): Message =>
    typed('envoy.filters.network.http_connection_manager', HCM, {
      ...{ stat_prefix, ...routes },
      use_remote_address: { value: true },
      normalize_path: { value: true },
      forward_client_cert_details: 'SANITIZE_SET',
      set_current_client_cert_details: { subject: { value: true }, uri: true },
      upgrade_configs: [{ upgrade_type: 'websocket' }],
      http_filters: [
        typed('envoy.filters.http.cors', `${HTTP}.cors.v3.Cors`),
        typed('envoy.filters.http.fault', `${HTTP}.fault.v3.HTTPFault`),
        ROUTER,
      ],
    });
  const tcp = (cluster: string): Message =>
    typed('envoy.filters.network.tcp_proxy', `${NETWORK}.tcp_proxy.v3.TcpProxy`, {
      stat_prefix: cluster,
      cluster,
    });
  plane.set(LISTENER, '1', [
    {
      name: '0.0.0.0_8080',
      address: address(0),
      traffic_direction: 'OUTBOUND',
      filter_chains: [
        {
          filters: [
            manager('outbound_0.0.0.0_8080', {
              rds: { config_source: SENT_ADS, route_config_name: 'http.8080' },
            }),
          ],
        },
      ],
    },
    {
      name: 'virtualOutbound',
      address: address(0),
      traffic_direction: 'OUTBOUND',
      use_original_dst: { value: true },
      filter_chains: [
        {
          name: 'virtualOutbound-blackhole',
          filter_chain_match: { destination_port: { value: 15001 } },
          filters: [tcp('BlackHoleCluster')],
        },
        { name: 'virtualOutbound-catchall-tcp', filters: [tcp('PassthroughCluster')] },
      ],
    },
    {
      name: 'virtualInbound',
      address: address(0),
      traffic_direction: 'INBOUND',
      listener_filters: [
        typed('original_dst', `${LISTENER_FILTERS}.original_dst.v3.OriginalDst`),
        typed('tls_inspector', `${LISTENER_FILTERS}.tls_inspector.v3.TlsInspector`),
        {
          ...typed('http_inspector', `${LISTENER_FILTERS}.http_inspector.v3.HttpInspector`),
          filter_disabled: { destination_port_range: { start: 15090, end: 15091 } },
        },
      ],
      listener_filters_timeout: { seconds: 0 },
      continue_on_listener_filters_timeout: true,
      filter_chains: [
        {
          name: 'virtualInbound-catchall-http',
          filter_chain_match: {
            transport_protocol: 'raw_buffer',
            application_protocols: ['http/1.1', 'h2c'],
          },
          filters: [
            manager('InboundPassthroughCluster', {
              route_config: {
                name: 'InboundPassthroughCluster',
                virtual_hosts: [
                  {
                    name: 'inbound|http|0',
                    domains: ['*'],
                    routes: [
                      { match: { prefix: '/' }, route: { cluster: 'InboundPassthroughCluster' } },
                    ],
                  },
                ],
              },
            }),
          ],
        },
        { name: 'virtualInbound', filters: [tcp('InboundPassthroughCluster')] },
      ],
    },
  ]);
  const proxy = await startProxy(t, {
    node: {
      id: 'router~10.0.0.1~gateway.istio-system~istio-system.svc.cluster.local',
      cluster: 'istio-ingressgateway.istio-system',
      locality: { region: 'here', zone: 'a' },
      metadata: { NAMESPACE: 'istio-system', PROXY_CONFIG: { concurrency: 2 } },
    },
    layered_runtime: {
      layers: [
        { name: 'global config', static_layer: { 're2.max_program_size.error_level': '32768' } },
        { name: 'admin', admin_layer: {} },
      ],
    },
    bootstrap_extensions: [
      typed('envoy.bootstrap.internal_listener', `${ANY}udpa.type.v1.TypedStruct`, {
        type_url: `${ANY}envoy.extensions.bootstrap.internal_listener.v3.InternalListener`,
        value: { buffer_size_kb: 64 },
      }),
    ],
    stats_config: {
      use_all_default_tags: false,
      stats_tags: [
        {
          tag_name: 'cluster_name',
          regex: '^cluster\\.((.+?(\\..+?\\.svc\\.cluster\\.local)?)\\.)',
        },
        {
          tag_name: 'http_conn_manager_listener_prefix',
          regex:
            '^listener(?=\\.).*?\\.http\\.(((?:[_.[:digit:]]*|[_\\[\\]aAbBcCdDeEfF[:digit:]]*))\\.)',
        },
        { tag_name: 'response_code_class', regex: '_rq(_(\\dxx))$' },
      ],
      stats_matcher: {
        inclusion_list: {
          patterns: ['reporter=', 'cluster_manager', 'listener_manager'].map((prefix) => ({
            prefix,
          })),
        },
      },
    },
    admin: {
      access_log: [typed('envoy.access_loggers.file', FILE_LOG, { path: '/dev/null' })],
      profile_path: join(folder, 'envoy.prof'),
      address: address(0),
    },
    dynamic_resources: {
      lds_config: PATIENT_ADS,
      cds_config: PATIENT_ADS,
      ads_config: {
        api_type: 'DELTA_GRPC',
        set_node_on_first_message_only: true,
        transport_api_version: 'V3',
        grpc_services: [{ envoy_grpc: { cluster_name: 'xds-grpc' } }],
      },
    },
    static_resources: {
      clusters: [
        {
          name: 'xds-grpc',
          type: 'STATIC',
          connect_timeout: '1s',
          lb_policy: 'ROUND_ROBIN',
          load_assignment: hostsOf('xds-grpc', { pipe: { path } }),
          circuit_breakers: {
            thresholds: ['DEFAULT', 'HIGH'].map((priority) => ({
              ...{ priority, max_connections: 100_000, max_requests: 100_000 },
            })),
          },
          upstream_connection_options: { tcp_keepalive: { keepalive_time: 300 } },
          max_requests_per_connection: 1,
          ...HTTP2,
        },
      ],
    },
  });
  assert.equal(await answers(proxy, '0.0.0.0_8080', 'web.example.test'), '200 origin /hello');
  for (const name of ['virtualOutbound', 'virtualInbound']) assert.ok(await listens(proxy, name));
  assertTaken(plane);
});

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
