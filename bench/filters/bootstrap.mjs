// The bootstrap of one measurement: everything to one origin, with the subject before it. JSON is YAML.
const HCM =
  'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const HTTP_OPTIONS = 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

const at = (port) => ({ socket_address: { address: '127.0.0.1', port_value: port } });

function cluster(name, port, more = {}) {
  const most = { max_connections: 100_000, max_pending_requests: 100_000, max_requests: 100_000 };
  return {
    name,
    type: 'STATIC',
    connect_timeout: '5s',
    circuit_breakers: { thresholds: [most] },
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: at(port) } }] }],
    },
    ...more,
  };
}

const http2 = {
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': HTTP_OPTIONS,
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

/**
 * @param {import('./filters.mjs').Subject} subject
 * @param {{listen: number, admin: number, origin: number, service: number}} ports
 */
export function bootstrapFor({ filter, manager, route }, ports) {
  const router = {
    name: 'envoy.filters.http.router',
    typed_config: { '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router' },
  };
  const { typed_per_filter_config, ...action } = route ?? {};
  const routes = [
    {
      match: { prefix: '/' },
      route: { cluster: 'origin', ...action },
      ...(typed_per_filter_config && { typed_per_filter_config }),
    },
  ];
  const config = {
    '@type': HCM,
    stat_prefix: 'bench',
    route_config: {
      name: 'bench',
      virtual_hosts: [{ name: 'all', domains: ['*'], routes }],
    },
    http_filters: filter ? [filter, router] : [router],
    ...manager,
  };
  const filters = [{ name: 'envoy.filters.network.http_connection_manager', typed_config: config }];
  return {
    admin: { address: at(ports.admin) },
    static_resources: {
      listeners: [{ name: 'bench', address: at(ports.listen), filter_chains: [{ filters }] }],
      clusters: [cluster('origin', ports.origin), cluster('service', ports.service, http2)],
    },
  };
}
