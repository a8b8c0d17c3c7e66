// A bootstrap that takes its clusters from a control plane, and sends requests to the one that they name.
const TYPES = 'type.googleapis.com/envoy.extensions';
const OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const ADS = { ads: {}, resource_api_version: 'V3' };

const address = (port) => ({ socket_address: { address: '127.0.0.1', port_value: port } });

/** @param {{plane: number, listen: number, admin: number, origin: number}} ports */
export function makeBootstrap({ plane, listen, admin, origin }) {
  return JSON.stringify({
    admin: { address: address(admin) },
    node: { id: 'bench', cluster: 'bench' },
    dynamic_resources: {
      ads_config: {
        api_type: 'DELTA_GRPC',
        transport_api_version: 'V3',
        grpc_services: [{ envoy_grpc: { cluster_name: 'plane' } }],
      },
      cds_config: ADS,
    },
    static_resources: {
      listeners: [listener(listen)],
      clusters: [
        {
          ...clusterOf('plane', plane),
          typed_extension_protocol_options: {
            [OPTIONS]: {
              '@type': `type.googleapis.com/${OPTIONS}`,
              explicit_http_config: { http2_protocol_options: {} },
            },
          },
        },
        clusterOf('static', origin),
      ],
    },
  });
}

function clusterOf(name, port) {
  return {
    name,
    type: 'STATIC',
    connect_timeout: '1s',
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }],
    },
  };
}

function listener(port) {
  const manager = {
    '@type': `${TYPES}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'ingress_http',
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster_header: 'x-cluster' } }],
        },
      ],
    },
    http_filters: [
      { name: 'router', typed_config: { '@type': `${TYPES}.filters.http.router.v3.Router` } },
    ],
  };
  return {
    name: 'main',
    address: address(port),
    filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
  };
}
