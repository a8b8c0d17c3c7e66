// A bootstrap of N clusters and N virtual hosts, each host with one route to its cluster: what a
// large mesh's sidecar or gateway loads. 10,000 make about 3.7 MB of JSON.
//   node bench/scale/make-bootstrap.mjs [N] > bootstrap.json
import { pathToFileURL } from 'node:url';

const EXTENSIONS = 'type.googleapis.com/envoy.extensions.filters';

/**
 * @param {number} count
 * @param {{listenPort: number, adminPort: number}} ports
 * @returns {string} JSON
 */
export function makeBootstrap(count, { listenPort, adminPort }) {
  const indices = Array.from({ length: count }, (_, index) => index);
  return JSON.stringify({
    admin: { address: address('127.0.0.1', adminPort) },
    static_resources: {
      listeners: [listener(indices, listenPort)],
      clusters: indices.map(cluster),
    },
  });
}

function listener(indices, port) {
  const manager = {
    '@type': `${EXTENSIONS}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'ingress_http',
    route_config: { name: 'local_route', virtual_hosts: indices.map(virtualHost) },
    http_filters: [
      {
        name: 'envoy.filters.http.router',
        typed_config: { '@type': `${EXTENSIONS}.http.router.v3.Router` },
      },
    ],
  };
  const filter = { name: 'envoy.filters.network.http_connection_manager', typed_config: manager };
  return {
    name: 'main',
    address: address('127.0.0.1', port),
    filter_chains: [{ filters: [filter] }],
  };
}

function virtualHost(index) {
  return {
    name: `host_${index}`,
    domains: [`service-${index}.example.com`],
    routes: [{ match: { prefix: '/' }, route: { cluster: `service_${index}` } }],
  };
}

function cluster(index) {
  const name = `service_${index}`;
  const host = address(`10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`, 8080);
  return {
    name,
    type: 'STATIC',
    connect_timeout: '1s',
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: host } }] }],
    },
  };
}

function address(ip, port) {
  return { socket_address: { address: ip, port_value: port } };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const count = Number(process.argv[2] ?? 10_000);
  process.stdout.write(makeBootstrap(count, { listenPort: 10_000, adminPort: 9901 }));
}
