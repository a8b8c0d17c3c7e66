// Istio’s bootstraps as they are, and a control plane that sends what its own sends.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { HTTP2, address } from './support/bootstraps.js';
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
  NETWORK,
  HTTP,
  LISTENER_FILTERS,
  HCM,
  FILE_LOG,
  PATIENT_ADS,
  SENT_ADS,
  ROUTER,
  typed,
  hostsOf,
  startOrigin,
  answers,
  listens,
  assertTaken,
} from './support/meshes.js';

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
