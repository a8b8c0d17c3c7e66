// The bootstrap of the admin benchmarks: many clusters as in bench/scale, and one that is reachable,
// which takes all requests for other hosts.
import { makeBootstrap } from '../scale/make-bootstrap.mjs';

const ROUTER = 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router';

/**
 * @param {number} count clusters without traffic
 * @param {{listenPort: number, adminPort: number, originPort: number}} ports
 * @returns {string} JSON
 */
export function makeAdminBootstrap(count, { listenPort, adminPort, originPort }) {
  const bootstrap = JSON.parse(makeBootstrap(count, { listenPort, adminPort }));
  const { listeners, clusters } = bootstrap.static_resources;
  const [filter] = listeners[0].filter_chains[0].filters;
  const manager = filter.typed_config;
  manager.route_config.virtual_hosts.push({
    name: 'load',
    domains: ['*'],
    routes: [{ match: { prefix: '/' }, route: { cluster: 'origin' } }],
  });
  // Answers are to have one length, so that the load can count bytes.
  manager.http_filters = [
    {
      name: 'envoy.filters.http.router',
      typed_config: { '@type': ROUTER, suppress_envoy_headers: true },
    },
  ];
  const address = { socket_address: { address: '127.0.0.1', port_value: originPort } };
  clusters.push({
    name: 'origin',
    type: 'STATIC',
    connect_timeout: '1s',
    load_assignment: {
      cluster_name: 'origin',
      endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
    },
  });
  return JSON.stringify(bootstrap);
}
