// One listener, one route, one origin: for fairlead and Envoy alike.
const TYPES = 'type.googleapis.com/envoy.extensions.filters';

const address = (port) => ({ socket_address: { address: '127.0.0.1', port_value: port } });

export function makeBootstrap(listenPort, adminPort, originPort) {
  const route = { match: { prefix: '/' }, route: { cluster: 'origin', timeout: '0s' } };
  const router = { '@type': `${TYPES}.http.router.v3.Router` };
  const manager = {
    '@type': `${TYPES}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'web',
    route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes: [route] }] },
    http_filters: [{ name: 'envoy.filters.http.router', typed_config: router }],
  };
  const filter = { name: 'http', typed_config: manager };
  const endpoint = { endpoint: { address: address(originPort) } };
  return {
    admin: { address: address(adminPort) },
    stats_flush_interval: '1s',
    static_resources: {
      listeners: [
        { name: 'web', address: address(listenPort), filter_chains: [{ filters: [filter] }] },
      ],
      clusters: [
        {
          name: 'origin',
          type: 'STATIC',
          load_assignment: { cluster_name: 'origin', endpoints: [{ lb_endpoints: [endpoint] }] },
        },
      ],
    },
  };
}
